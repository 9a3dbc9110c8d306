import { hash } from 'node:crypto';
import { defined } from '../domain/defined.ts';
import type { Micros } from '../domain/money.ts';

type EntryKind = 'credit' | 'hold' | 'void' | 'settle' | 'release' | 'charge_extra' | 'refund' | 'adjust';

/**
 * One line of an account; never changed, never removed.
 *
 * | kind         | amount                        | available        | held      |
 * |--------------|-------------------------------|------------------|-----------|
 * | credit       | positive                      | + amount         |           |
 * | adjust       | negative                      | + amount         |           |
 * | hold         | what is set aside             | − amount         | + amount  |
 * | void         | 0: stands where a hold would  |                  |           |
 * | settle       | charged, at most the hold     | + hold − amount  | − hold    |
 * | release      | the hold                      | + amount         | − amount  |
 * | charge_extra | charged beyond the hold       | − amount         |           |
 * | refund       | positive, at most the charge  | + amount         |           |
 */
export interface LedgerEntry {
  /** `<account>/<seq>` */
  readonly id: string;
  readonly account: string;
  /** 1, 2, 3 … in each account. */
  readonly seq: bigint;
  /** Unique in the whole ledger: the same operation twice is one entry. See `keys`. */
  readonly key: string;
  readonly kind: EntryKind;
  readonly task?: string;
  readonly amount: Micros;
  /** Balances after this entry. */
  readonly available: Micros;
  readonly held: Micros;
  /** Of a settle whose charge exceeds its hold: the amount of the `charge_extra` that follows. */
  readonly excess?: Micros;
  /** JSON of the PriceBasis (hold), or of how the charge came about (settle). */
  readonly basis?: string;
  readonly note?: string;
  /** Unix milliseconds by the writer's clock; for people, nothing is ordered by it. */
  readonly at: number;
  /** Of all that is stored of this entry, the hash of the one before it included. */
  readonly hash: string;
}

/** An entry as stored. Every integer but `at` is an int64 in MongoDB. */
export interface EntryDocument extends Omit<LedgerEntry, 'id'> {
  /** `<account>/<seq>`: two writers cannot both have the next place. */
  readonly _id: string;
  /** Of the entry before; of the first one: 64 zeros. */
  readonly prev_hash: string;
}

export function toEntry(document: EntryDocument): LedgerEntry {
  const { _id: id, account, seq, key, kind, task, amount, available, held } = document;
  const { excess, basis, note, at, hash: ownHash } = document;
  const optional = defined({ task, excess, basis, note });
  return { id, account, seq, key, kind, amount, available, held, at, hash: ownHash, ...optional };
}

/**
 * Settle and release share one key, so that the unique index lets a task be closed once, whichever comes first. Hold
 * and void share one, so that a hold that was abandoned can never be taken, however late its write arrives.
 * A task is refunded once, in part or in full.
 * Accounts and tasks contain no colon: no two operations write the same key.
 */
export const keys = {
  hold: (task: string) => `${task}:hold`,
  close: (task: string) => `${task}:close`,
  chargeExtra: (task: string) => `${task}:charge_extra`,
  refund: (task: string) => `${task}:refund`,
  credit: (account: string, reference: string) => `credit:${account}:${reference}`,
};

/** What the next entry builds on: the balances and the hash of the last one. */
export interface Head {
  readonly seq: bigint;
  readonly available: Micros;
  readonly held: Micros;
  readonly hash: string;
}

export const emptyHead: Head = { seq: 0n, available: 0n, held: 0n, hash: '0'.repeat(64) };

/** An entry without its place in the chain. */
export interface Draft {
  readonly account: string;
  readonly key: string;
  readonly kind: EntryKind;
  readonly task?: string;
  readonly amount: Micros;
  /** By how much the balances change. */
  readonly available: Micros;
  readonly held: Micros;
  readonly excess?: Micros;
  readonly basis?: string;
  readonly note?: string;
}

const int64Max = 2n ** 63n - 1n;

/** The entry that follows `head`. Throws RangeError when a balance leaves int64. */
export function chainEntry(head: Head, draft: Draft, at: number): EntryDocument {
  const seq = head.seq + 1n;
  const available = head.available + draft.available;
  const held = head.held + draft.held;
  for (const value of [available, held, draft.amount]) {
    if (value > int64Max || value < -int64Max) throw new RangeError(`account ${draft.account} leaves int64`);
  }
  const entry = {
    ...draft,
    _id: entryId(draft.account, seq),
    seq,
    available,
    held,
    at,
    prev_hash: head.hash,
  };
  return { ...entry, hash: hashEntry(entry) };
}

export function entryId(account: string, seq: bigint): string {
  return `${account}/${seq}`;
}

/** What a settled task costs its account; nothing when it was released. */
export function chargeOf(close: Pick<LedgerEntry, 'kind' | 'amount' | 'excess'>): Micros {
  return close.kind === 'settle' ? close.amount + (close.excess ?? 0n) : 0n;
}

/**
 * SHA-256 over the fields in a fixed order as one JSON array, integers as strings. A field that is added to entries
 * later goes to the end of the list and only when present, so that old hashes stay valid.
 */
export function hashEntry(entry: Omit<EntryDocument, 'hash'>): string {
  const canonical = JSON.stringify([
    entry._id,
    entry.account,
    entry.seq.toString(),
    entry.key,
    entry.kind,
    entry.task ?? null,
    entry.amount.toString(),
    entry.available.toString(),
    entry.held.toString(),
    entry.excess?.toString() ?? null,
    entry.basis ?? null,
    entry.note ?? null,
    entry.at,
    entry.prev_hash,
  ]);
  return hash('sha256', canonical, 'hex');
}
