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
 * | hold         | the reserved amount           | − amount         | + amount  |
 * | void         | 0: blocks the hold's key      |                  |           |
 * | settle       | charged, at most the hold     | + hold − amount  | − hold    |
 * | release      | the hold                      | + amount         | − amount  |
 * | charge_extra | charged beyond the hold       | − amount         |           |
 * | refund       | positive, at most the charge  | + amount         |           |
 */
export interface LedgerEntry {
  readonly id: string;
  readonly account: string;
  readonly seq: bigint;
  /** Unique in the whole ledger, so a repeated operation adds only one entry. See `keys`. */
  readonly key: string;
  readonly kind: EntryKind;
  readonly task?: string;
  readonly key_id?: string;
  readonly model?: string;
  readonly end_user?: string;
  readonly endUser?: string;
  /**
   * The UTC day, such as `2026-11-23`. All entries of a task carry the day of its hold, however late the task finishes.
   */
  readonly day?: string;
  /** The totals spent by the key, by the key with this model, and by the end user, including this entry. */
  readonly spent?: readonly Spent[];
  readonly amount: Micros;
  readonly available: Micros;
  readonly held: Micros;
  /** Set only if a settle's charge exceeds its hold. A `charge_extra` of this amount follows. */
  readonly excess?: Micros;
  /** As JSON: the price basis of a hold, or the calculation of a settle. */
  readonly basis?: string;
  readonly note?: string;
  /** The operator's cost. Set in the entry that ends a task, and in a refund, because a refund lowers the margin. */
  readonly upstream?: UpstreamCost;
  /** Unix milliseconds by the writer's clock, raised to the previous entry's time if the clock lags. */
  readonly at: number;
  /** A keyed hash over every stored field, including the previous entry's hash. */
  readonly hash: string;
}

export interface EntryDocument extends Omit<LedgerEntry, 'id' | 'endUser'> {
  /** `<account>/<seq>`, so two writers cannot insert an entry with the same number. */
  readonly _id: string;
  readonly prev_hash: string;
  /** A UTC day such as `2026-01-31`. Set together with `upstream`. */
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

export function attributionOf({ key_id, model, end_user, day }: Undefinable<Attribution>): Attribution {
  return defined({ key_id, model, end_user, day });
}

/**
 * Settle and release share a key, so the unique index lets a task be closed only once. Hold and void share a key, so a
 * voided hold can no longer be written. Account and task names contain no colon, so no two operations share a key by
 * accident.
 */
export const keys = {
  hold: (task: string) => `${task}:hold`,
  close: (task: string) => `${task}:close`,
  chargeExtra: (task: string) => `${task}:charge_extra`,
  refund: (task: string) => `${task}:refund`,
  credit: (account: string, reference: string) => `credit:${account}:${reference}`,
};

export function referenceOf({
  kind,
  account,
  key,
}: Pick<LedgerEntry, 'kind' | 'account' | 'key'>): string | undefined {
  const isNamed = kind === 'credit' || kind === 'adjust';
  return isNamed ? key.slice(keys.credit(account, '').length) : undefined;
}

export interface Head {
  readonly seq: bigint;
  readonly available: Micros;
  readonly held: Micros;
  readonly hash: string;
  readonly at: number;
}

export const emptyHead: Head = { seq: 0n, available: 0n, held: 0n, hash: '0'.repeat(64), at: 0 };

export interface Draft extends Attribution {
  readonly spent?: readonly Spent[];
  readonly account: string;
  readonly key: string;
  readonly kind: EntryKind;
  readonly task?: string;
  readonly amount: Micros;
  readonly available: Micros;
  readonly held: Micros;
  readonly excess?: Micros;
  readonly basis?: string;
  readonly note?: string;
  readonly upstream?: UpstreamCost;
}

const int64Max = 2n ** 63n - 1n;

export interface Seal {
  readonly at: number;
  readonly hash: EntryHash;
}

/** @throws RangeError if a balance or a sum exceeds int64 */
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

export type EntryHash = (entry: Omit<EntryDocument, 'hash'>) => string;

/**
 * Returns a function that computes the HMAC-SHA-256 of all stored fields and their names. An entry cannot be forged
 * without the key, so write access to MongoDB is not enough. The key comes from the database's root key and does not
 * change with SECRETS_KEY.
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
