import { createRecent } from '../base/recent.ts';
import { findLast, findSpent, findSuccessors, type LedgerCollection } from './collection.ts';
import { emptyHead, type EntryDocument, type Head } from './entry.ts';
import { nothingSpent, type Spent, type SpentBook } from './spent.ts';

/**
 * If a cached head is more than this many entries behind, reading the current head through the index is faster than
 * following the entries by `_id`.
 */
const successorsMax = 16;
const scopesMax = 50_000;

export interface Heads {
  /** Returns the cached head, or reads the head if none is cached. A cached head may be outdated (see `contest`). */
  get(account: string): Promise<Head>;
  seen(account: string): Head | undefined;
  refresh(account: string): Promise<Head>;
  spent(account: string, head: Head, scopes: ReadonlySet<string>): Promise<SpentBook>;
  /** Pass only majority-committed entries, in order. Entries older than the cached head are ignored. */
  follow(account: string, entries: readonly EntryDocument[]): void;
  /**
   * Call this after losing a race to another process. From then on, `get` reads the head on every call until it finds
   * no newer entries. A read is cheaper than the failed write that an outdated head would cause.
   */
  contest(account: string): void;
}

interface Followed {
  readonly head: Head;
  /** This process has seen every entry from this seq up to the head. */
  readonly since: bigint;
}

interface Sums {
  readonly spent: Spent;
  /** The seq up to which the sums count. They are still correct if this process has seen every later entry. */
  readonly asOf: bigint;
}

export function createHeads(collection: LedgerCollection, headsMax: number): Heads {
  const heads = createRecent<Followed>(headsMax);
  const sums = createRecent<Sums>(scopesMax);
  const contested = createRecent<true>(headsMax);
  const sumsKey = (account: string, scope: string) => `${account}/${scope}`;

  function follow(account: string, entries: readonly EntryDocument[]): void {
    let seen = heads.get(account);
    for (const entry of entries) {
      const { seq, available, held, hash, at } = entry;
      if (seen !== undefined && seq <= seen.head.seq) continue;
      const since = seen !== undefined && seq === seen.head.seq + 1n ? seen.since : seq;
      // Copy only these fields, so that entire entries are not kept in memory.
      seen = { head: { seq, available, held, hash, at }, since };
      for (const spent of entry.spent ?? []) sums.set(sumsKey(account, spent.scope), { spent, asOf: seq });
    }
    if (seen !== undefined) heads.set(account, seen);
  }

  async function readCold(account: string): Promise<Head> {
    const last = await findLast(collection, account);
    if (last !== undefined) follow(account, [last]);
    else if (!heads.has(account)) heads.set(account, { head: emptyHead, since: 0n });
    return heads.get(account)?.head ?? last ?? emptyHead;
  }

  async function refresh(account: string): Promise<Head> {
    const seen = heads.get(account)?.head;
    if (seen === undefined) return readCold(account);
    const successors = await findSuccessors(collection, account, { after: seen.seq, limit: successorsMax });
    if (successors.length === successorsMax) return readCold(account);
    follow(account, successors);
    return heads.get(account)?.head ?? seen;
  }

  async function sumsOf(account: string, head: Head, scope: string): Promise<Spent> {
    if (head.seq === 0n) return nothingSpent(scope);
    const key = sumsKey(account, scope);
    const known = sums.get(key);
    const followed = heads.get(account);
    if (known !== undefined && followed !== undefined && known.asOf >= followed.since) return known.spent;
    const found = await findSpent(collection, account, { scope, upTo: head.seq });
    const spent = found ?? nothingSpent(scope);
    if (heads.get(account)?.head.seq === head.seq) sums.set(key, { spent, asOf: head.seq });
    return spent;
  }

  return {
    async get(account) {
      const seen = heads.get(account)?.head;
      if (seen === undefined) return readCold(account);
      if (!contested.has(account)) return seen;
      const head = await refresh(account);
      if (head.seq === seen.seq) contested.delete(account);
      return head;
    },
    seen: (account) => heads.get(account)?.head,
    refresh,
    async spent(account, head, scopes) {
      const read = [...scopes].map(async (scope) => [scope, await sumsOf(account, head, scope)] as const);
      return new Map(await Promise.all(read));
    },
    follow,
    contest: (account) => void contested.set(account, true),
  };
}
