import { LRUCache } from 'lru-cache';
import { findLast, findSuccessors } from './collection.ts';
import type { LedgerCollection } from './collection.ts';
import { emptyHead } from './entry.ts';
import type { Head } from './entry.ts';

/** How far behind a head is brought up to date by `_id`; further behind, the index is quicker. */
const successorsMax = 16;

export interface Heads {
  /** The head seen last, which may be behind; of an account not seen yet, the head by the index. See `contest`. */
  get(account: string): Promise<Head>;
  /** The head as it is now. */
  refresh(account: string): Promise<Head>;
  /** Only for what is written with majority. An older head changes nothing. */
  advance(account: string, head: Head): void;
  /**
   * An entry of another process was first: `get` looks for newer ones until it finds none. Such a look costs one read; a
   * head that is behind costs a write in vain and two reads.
   */
  contest(account: string): void;
}

/** The last head of each account, at most `headsMax` of them; the one not used for longest is dropped. */
export function createHeads(collection: LedgerCollection, headsMax: number): Heads {
  const heads = new LRUCache<string, Head>({ max: headsMax });
  const contested = new LRUCache<string, true>({ max: headsMax });

  function advance(account: string, head: Head): void {
    const seen = heads.get(account);
    // Only the head's own fields: the map must not keep whole entries alive.
    const { seq, available, held, hash } = head;
    heads.set(account, seen !== undefined && seen.seq > seq ? seen : { seq, available, held, hash });
  }

  async function readCold(account: string): Promise<Head> {
    const head = (await findLast(collection, account)) ?? emptyHead;
    advance(account, head);
    return heads.get(account) ?? head;
  }

  async function refresh(account: string): Promise<Head> {
    const seen = heads.get(account);
    if (seen === undefined) return readCold(account);
    const successors = await findSuccessors(collection, account, { after: seen.seq, limit: successorsMax });
    if (successors.length === successorsMax) return readCold(account);
    advance(account, successors.at(-1) ?? seen);
    return heads.get(account) ?? seen;
  }

  return {
    async get(account) {
      const seen = heads.get(account);
      if (seen === undefined) return readCold(account);
      if (!contested.has(account)) return seen;
      const head = await refresh(account);
      if (head.seq === seen.seq) contested.delete(account);
      return head;
    },
    refresh,
    advance,
    contest: (account) => void contested.set(account, true),
  };
}
