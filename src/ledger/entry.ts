import { createHmac, createSecretKey } from 'node:crypto';
import { defined } from '../base/defined.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import type { Micros } from '../money/money.ts';
import type { EntryKind } from '../money/movement.ts';
import type { UpstreamCost } from '../task/cost.ts';
import { utcDay } from '../base/times.ts';
import type { Attribution, Spent } from './spent.ts';

/**
 * An entry in an account. It is never changed or removed.
 *
 * | kind         | amount                        | available        | held      |
 * |--------------|-------------------------------|------------------|-----------|
 * | credit       | positive                      | + amount         |           |
 * | adjust       | negative                      | + amount         |           |
 * | hold         | the amount set aside          | − amount         | + amount  |
 * | void         | 0: occupies the hold's place  |                  |           |
 * | settle       | charged, at most the hold     | + hold − amount  | − hold    |
 * | release      | the hold                      | + amount         | − amount  |
 * | charge_extra | charged beyond the hold       | − amount         |           |
 * | refund       | positive, at most the charge  | + amount         |           |
 */
export interface LedgerEntry {
  /** The entry's id: `<account>/<seq>`. */
  readonly id: string;
  readonly account: string;
  /** The entry's number within its account: 1, 2, 3 … */
  readonly seq: bigint;
  /** A key that is unique across the ledger, so that a repeated operation yields one entry. See `keys`. */
  readonly key: string;
  readonly kind: EntryKind;
  readonly task?: string;
  /** The id of the API key that spends the money. All of a task's entries take it from the hold. */
  readonly key_id?: string;
  readonly model?: string;
  /** The end user's pseudonym (`EndUserNames`). */
  readonly end_user?: string;
  /** The end user's name. Not stored. */
  readonly endUser?: string;
  /**
   * The day (UTC, `2026-11-23`) to which the amount belongs: the day of the task's hold, no matter when it is closed.
   */
  readonly day?: string;
  /** The amounts spent by the key, the key with this model, and the end user, including this entry. */
  readonly spent?: readonly Spent[];
  readonly amount: Micros;
  /** The balances after this entry. */
  readonly available: Micros;
  readonly held: Micros;
  /** The amount of the `charge_extra` that follows. Set only in a settle whose charge exceeds the hold. */
  readonly excess?: Micros;
  /** A hold's PriceBasis or a settle's calculation, as JSON. */
  readonly basis?: string;
  readonly note?: string;
  /** The task's cost to the operator. Set in the entry that ends a task, and in a refund, which lowers its margin. */
  readonly upstream?: UpstreamCost;
  /** The time in Unix milliseconds by the writer's clock, or the previous entry's time if later. */
  readonly at: number;
  /** A keyed hash of every stored field of this entry, including the previous entry's hash. */
  readonly hash: string;
}

/** A stored entry. Every integer except `at` is an int64 in MongoDB. */
export interface EntryDocument extends Omit<LedgerEntry, 'id' | 'endUser'> {
  /** The id `<account>/<seq>`, so that two writers cannot claim the same place. */
  readonly _id: string;
  /** The previous entry's hash, or 64 zeros for the first entry. */
  readonly prev_hash: string;
  /** The UTC day of `at`, as in `2026-01-31`. Set together with `upstream`. */
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

/** Returns the fields that a task's entries inherit from its hold. */
export function attributionOf({ key_id, model, end_user, day }: Undefinable<Attribution>): Attribution {
  return defined({ key_id, model, end_user, day });
}

/**
 * Settle and release share a key, so the unique index ensures that a task is closed only once. Hold and void share a
 * key, so an abandoned hold can never be taken, however late its write arrives. A task can be refunded once, partly or
 * fully. Neither account nor task names contain a colon, so no two operations produce the same key.
 */
export const keys = {
  hold: (task: string) => `${task}:hold`,
  close: (task: string) => `${task}:close`,
  chargeExtra: (task: string) => `${task}:charge_extra`,
  refund: (task: string) => `${task}:refund`,
  credit: (account: string, reference: string) => `credit:${account}:${reference}`,
};

/** Returns the payer's reference for a credit or correction. Undefined for other entries. */
export function referenceOf({
  kind,
  account,
  key,
}: Pick<LedgerEntry, 'kind' | 'account' | 'key'>): string | undefined {
  const isNamed = kind === 'credit' || kind === 'adjust';
  return isNamed ? key.slice(keys.credit(account, '').length) : undefined;
}

/** The basis of the next entry: the last entry's balances and hash. */
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
  /** The changes to the balances. */
  readonly available: Micros;
  readonly held: Micros;
  readonly excess?: Micros;
  readonly basis?: string;
  readonly note?: string;
  readonly upstream?: UpstreamCost;
}

const int64Max = 2n ** 63n - 1n;

/** Everything except the head that an entry needs to join the chain. */
export interface Seal {
  /** The time in Unix milliseconds. */
  readonly at: number;
  readonly hash: EntryHash;
}

/** Creates the entry that follows `head`. Throws RangeError if a balance or a sum exceeds int64. */
export function chainEntry(head: Head, draft: Draft, { at, hash }: Seal): EntryDocument {
  const seq = head.seq + 1n;
  const available = head.available + draft.available;
  const held = head.held + draft.held;
  const windows = draft.spent?.flatMap(({ today, month, total }) => [today, month, total]) ?? [];
  const sums = windows.flatMap(({ used, held: open }) => [used, open]);
  for (const value of [available, held, draft.amount, ...sums]) {
    if (value > int64Max || value < -int64Max) throw new RangeError(`account ${draft.account} exceeds int64`);
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

/** Returns the hash as 64 hexadecimal digits. */
export type EntryHash = (entry: Omit<EntryDocument, 'hash'>) => string;

/**
 * Hashes every stored field by name, with HMAC-SHA-256. Creating an entry or altering its fields takes the key as well
 * as write access to MongoDB. The key is derived from the database's root key, so it outlives every SECRETS_KEY.
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
