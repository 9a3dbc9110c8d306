import { defined } from '../base/defined.ts';
import { capsOfEndUser, endUserName } from '../money/caps.ts';
import { accountClosed } from '../errors/errors.ts';
import { noFactors, type PriceFactors } from '../money/price-factors.ts';
import type { Spender } from '../access/spender.ts';
import type { HoldRequest } from '../ledger/operation.ts';
import { createRecent } from '../base/recent.ts';
import type { Account, AccountStore } from '../store/accounts.ts';

/** Leaves a margin, because every node must see a change within 5 s. */
const cacheTtlMs = 4_000;
const cachedAccountsMax = 10_000;

export interface AccountTerms {
  readonly holdTerms: FindHoldTerms;
  readonly factorsOf: (account: string) => Promise<PriceFactors>;
}

/**
 * Returns the limits on a hold other than the balance, including the caps of the spender and its end user. Throws
 * account_closed.
 */
export type FindHoldTerms = (
  account: string,
  by: Spender,
) => Promise<Pick<HoldRequest, 'overdraftLimit' | 'by'>>;

export function createAccountTerms(accounts: Pick<AccountStore, 'find'>, now: () => number): AccountTerms {
  const known = createRecent<Partial<Account>>(cachedAccountsMax, { ttlMs: cacheTtlMs, now });
  const termsOf = async (account: string): Promise<Partial<Account>> => {
    let terms = known.get(account);
    if (terms === undefined) known.set(account, (terms = { ...(await accounts.find(account)) }));
    return terms;
  };
  const holdTerms: FindHoldTerms = async (account, by) => {
    const terms = await termsOf(account);
    if (terms.closedAt !== undefined) throw accountClosed(account);
    const { endUserCaps, overdraftLimit = 0n } = terms;
    const endUser = by.endUser === undefined ? undefined : endUserName(by.endUser, endUserCaps);
    const caps = [...(by.caps ?? []), ...capsOfEndUser(endUserCaps, endUser)];
    return { overdraftLimit, by: { ...by, ...defined({ endUser }), caps } };
  };
  return { holdTerms, factorsOf: async (account) => (await termsOf(account)).priceFactors ?? noFactors };
}
