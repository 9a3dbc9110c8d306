import { LRUCache } from 'lru-cache';
import { findLast, findSpent, findSuccessors } from './collection.ts';
import type { LedgerCollection } from './collection.ts';
import { emptyHead } from './entry.ts';
import type { EntryDocument, Head } from './entry.ts';
import { nothingSpent } from './spent.ts';
import type { Spent, SpentBook } from './spent.ts';

/** How far behind a head is brought up to date by `_id`; further behind, the index is quicker. */
const successorsMax = 16;
/** Of all accounts together. */
const scopesMax = 50_000;

export interface Heads {
  /** The head seen last, which may be behind; of an account not seen yet, the head by the index. See `contest`. */
  get(account: string): Promise<Head>;
  /** What `get` gave last, if it is remembered. */
  seen(account: string): Head | undefined;
  /** The head as it is now. */
  refresh(account: string): Promise<Head>;
  /** What these scopes have spent as of a head that one of the two above gave: from memory, or one query for each. */
  spent(account: string, head: Head, scopes: ReadonlySet<string>): Promise<SpentBook>;
  /** Only for what is written with majority, in order. Older entries change nothing. */
  follow(account: string, entries: readonly EntryDocument[]): void;
  /**
   * An entry of another process was first: `get` looks for newer ones until it finds none. Such a look costs one read; a
   * head that is behind costs a write in vain and two reads.
   */
  contest(account: string): void;
}

interface Followed {
  readonly head: Head;
  /** Every entry after this one, up to the head, was seen. */
  readonly since: bigint;
}

interface Sums {
  readonly spent: Spent;
  /** The head they were true for; true still if every entry after it was seen. */
  readonly asOf: bigint;
}

/**
 * The last head of each account, at most `headsMax` of them, and what its scopes have spent; the one not used for longest
 * is dropped.
 */
export function createHeads(collection: LedgerCollection, headsMax: number): Heads {
  const heads = new LRUCache<string, Followed>({ max: headsMax });
  const sums = new LRUCache<string, Sums>({ max: scopesMax });
  const contested = new LRUCache<string, true>({ max: headsMax });
  const sumsKey = (account: string, scope: string) => `${account}/${scope}`;

  function follow(account: string, entries: readonly EntryDocument[]): void {
    let seen = heads.get(account);
    for (const entry of entries) {
      const { seq, available, held, hash, at } = entry;
      if (seen !== undefined && seq <= seen.head.seq) continue;
      const since = seen !== undefined && seq === seen.head.seq + 1n ? seen.since : seq;
      // Only the head's own fields: the map must not keep whole entries alive.
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
    // Entries that arrived during the read may have changed them.
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
