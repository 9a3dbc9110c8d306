import { createHmac, createSecretKey } from 'node:crypto';
import { defined } from '../base/defined.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import type { Micros } from '../money/money.ts';
import type { EntryKind } from '../money/movement.ts';
import type { UpstreamCost } from '../task/cost.ts';
import { utcDay } from '../base/times.ts';
import type { Attribution, Spent } from './spent.ts';

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
  /** Whose money it is, of every entry of a task that was held; its hold decides it. */
  readonly key_id?: string;
  readonly model?: string;
  /** The pseudonym of the end user (`EndUserNames`). */
  readonly end_user?: string;
  /** The end user's name. It is not stored. */
  readonly endUser?: string;
  /** The day (UTC, `2026-11-23`) that the amount counts for: the day of the task's hold, whenever it is closed. */
  readonly day?: string;
  /** What its key, its key with its model, and its end user have spent after this entry. */
  readonly spent?: readonly Spent[];
  readonly amount: Micros;
  /** Balances after this entry. */
  readonly available: Micros;
  readonly held: Micros;
  /** Of a settle whose charge exceeds its hold: the amount of the `charge_extra` that follows. */
  readonly excess?: Micros;
  /** JSON of the PriceBasis (hold), or of how the charge came about (settle). */
  readonly basis?: string;
  readonly note?: string;
  /** Of the entry that ends a task: what it cost its operator. Of a refund: whose margin it lowers. */
  readonly upstream?: UpstreamCost;
  /** Unix milliseconds by the writer's clock, or the time of the entry before, if that is later. */
  readonly at: number;
  /** Keyed, of all that is stored of this entry, the hash of the one before it included. */
  readonly hash: string;
}

/** An entry as stored. Every integer but `at` is an int64 in MongoDB. */
export interface EntryDocument extends Omit<LedgerEntry, 'id' | 'endUser'> {
  /** `<account>/<seq>`: two writers cannot both have the next place. */
  readonly _id: string;
  /** Of the entry before; of the first one: 64 zeros. */
  readonly prev_hash: string;
  /** With `upstream`: the day of `at` in UTC, `2026-01-31`. */
  readonly ended_on?: string;
}

export function toEntry(document: EntryDocument, { read }: Pick<EndUserNames, 'read'>): LedgerEntry {
  const { _id: id, account, seq, key, kind, task, amount, available, held } = document;
  const { excess, basis, note, upstream, at, hash: ownHash } = document;
  const endUser = document.end_user === undefined ? undefined : read(document.end_user);
  const optional = defined({ task, excess, basis, note, upstream, endUser });
  const attributed = { ...attributionOf(document), ...defined({ spent: document.spent }) };
  return {
    id,
    account,
    seq,
    key,
    kind,
    amount,
    available,
    held,
    at,
    hash: ownHash,
    ...attributed,
    ...optional,
  };
}

type Undefinable<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | undefined };

/** What the entries of a task take over from its hold. */
export function attributionOf({ key_id, model, end_user, day }: Undefinable<Attribution>): Attribution {
  return defined({ key_id, model, end_user, day });
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

/** How its payer named a credit or a correction; of other entries undefined. */
export function referenceOf({
  kind,
  account,
  key,
}: Pick<LedgerEntry, 'kind' | 'account' | 'key'>): string | undefined {
  const isNamed = kind === 'credit' || kind === 'adjust';
  return isNamed ? key.slice(keys.credit(account, '').length) : undefined;
}

/** What the next entry builds on: the balances and the hash of the last one. */
export interface Head {
  readonly seq: bigint;
  readonly available: Micros;
  readonly held: Micros;
  readonly hash: string;
  readonly at: number;
}

export const emptyHead: Head = { seq: 0n, available: 0n, held: 0n, hash: '0'.repeat(64), at: 0 };

/** An entry without its place in the chain. */
export interface Draft extends Attribution {
  readonly spent?: readonly Spent[];
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
  readonly upstream?: UpstreamCost;
}

const int64Max = 2n ** 63n - 1n;

/** What an entry's place in the chain needs beside the head. */
export interface Seal {
  /** Unix milliseconds. */
  readonly at: number;
  readonly hash: EntryHash;
}

/** The entry that follows `head`. Throws RangeError when a balance or a sum leaves int64. */
export function chainEntry(head: Head, draft: Draft, { at, hash }: Seal): EntryDocument {
  const seq = head.seq + 1n;
  const available = head.available + draft.available;
  const held = head.held + draft.held;
  const windows = draft.spent?.flatMap(({ today, month, total }) => [today, month, total]) ?? [];
  const sums = windows.flatMap(({ used, held: open }) => [used, open]);
  for (const value of [available, held, draft.amount, ...sums]) {
    if (value > int64Max || value < -int64Max) throw new RangeError(`account ${draft.account} leaves int64`);
  }
  const entry = {
    ...draft,
    _id: entryId(draft.account, seq),
    seq,
    available,
    held,
    at,
    ...(draft.upstream === undefined ? {} : { ended_on: utcDay(at) }),
    prev_hash: head.hash,
  };
  return { ...entry, hash: hash(entry) };
}

export function entryId(account: string, seq: bigint): string {
  return `${account}/${seq}`;
}

/** 64 hexadecimal digits. */
export type EntryHash = (entry: Omit<EntryDocument, 'hash'>) => string;

/**
 * HMAC-SHA-256 over every field that is stored, by name: whoever can write to MongoDB, and has no key, cannot make an
 * entry, change a field of one or add a field to it. The key derives from the root of the database, so that it outlives
 * each SECRETS_KEY.
 */
export function createEntryHash(key: Uint8Array): EntryHash {
  const secret = createSecretKey(key);
  return (entry) => createHmac('sha256', secret).update(canonical(entry)).digest('hex');
}

function canonical(entry: Omit<EntryDocument, 'hash'>): string {
  const fields = Object.entries(entry).filter(([name, value]) => name !== 'hash' && value !== undefined);
  fields.sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(fields, (_, value: unknown) =>
    typeof value === 'bigint' ? { int64: value.toString() } : value,
  );
}
