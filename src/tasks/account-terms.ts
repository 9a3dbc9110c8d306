import { LRUCache } from 'lru-cache';
import { accountClosed } from '../domain/errors.ts';
import type { AccountStore } from '../store/accounts.ts';

/** A change is effective on every node within this. The promise is 5 s. */
const cacheTtlMs = 4_000;
const cachedAccountsMax = 10_000;

/**
 * What an account may owe before something new is created, in micro-units: read once in a few seconds per account.
 * Throws account_closed.
 */
export function createOverdraftLimits(
  accounts: Pick<AccountStore, 'find'>,
  now: () => number,
): (account: string) => Promise<bigint> {
  const known = new LRUCache<string, { readonly limit: bigint; readonly isClosed: boolean }>({
    max: cachedAccountsMax,
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now },
  });
  return async (account) => {
    let terms = known.get(account);
    if (terms === undefined) {
      const found = await accounts.find(account);
      terms = { limit: found?.overdraftLimit ?? 0n, isClosed: found?.closedAt !== undefined };
      known.set(account, terms);
    }
    if (terms.isClosed) throw accountClosed(account);
    return terms.limit;
  };
}
