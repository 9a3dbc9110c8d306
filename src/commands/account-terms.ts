import { defined } from '../base/defined.ts';
import { capsOfEndUser, endUserName } from '../money/caps.ts';
import { accountClosed } from '../errors/errors.ts';
import type { Spender } from '../access/spender.ts';
import type { HoldRequest } from '../ledger/operation.ts';
import { createRecent } from '../process/recent.ts';
import type { Account, AccountStore } from '../store/accounts.ts';

/** A change is effective on every node within this. The promise is 5 s. */
const cacheTtlMs = 4_000;
const cachedAccountsMax = 10_000;

/**
 * What a hold must fit into beside the balance; `by`: with the caps of its end user beside its own. Read once in a few
 * seconds per account. Throws account_closed.
 */
export type FindHoldTerms = (
  account: string,
  by: Spender,
) => Promise<Pick<HoldRequest, 'overdraftLimit' | 'by'>>;

export function createHoldTerms(accounts: Pick<AccountStore, 'find'>, now: () => number): FindHoldTerms {
  const known = createRecent<Partial<Account>>({ max: cachedAccountsMax, ttlMs: cacheTtlMs, now });
  return async (account, by) => {
    let terms = known.get(account);
    if (terms === undefined) known.set(account, (terms = { ...(await accounts.find(account)) }));
    if (terms.closedAt !== undefined) throw accountClosed(account);
    const { endUserCaps, overdraftLimit = 0n } = terms;
    const endUser = by.endUser === undefined ? undefined : endUserName(by.endUser, endUserCaps);
    const caps = [...(by.caps ?? []), ...capsOfEndUser(endUserCaps, endUser)];
    return { overdraftLimit, by: { ...by, ...defined({ endUser }), caps } };
  };
}
