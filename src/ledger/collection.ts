import { MongoBulkWriteError } from 'mongodb';
import type { Collection, Db } from 'mongodb';
import { durable, ensureIndexes, isDuplicateKey, openCollection } from '../store/mongo.ts';
import type { IndexShape } from '../store/mongo.ts';
import type { AnchorDocument } from './anchored-heads.ts';
import { entryId } from './entry.ts';
import type { EntryDocument } from './entry.ts';
import type { Spent } from './spent.ts';
import { ensureTurnLineIndexes } from './turn-lines.ts';

/** The part of the driver's collection that the ledger uses. */
export type LedgerCollection = Pick<
  Collection<EntryDocument>,
  'insertMany' | 'find' | 'findOne' | 'aggregate'
>;

const readTimeoutMs = 10_000;

/** Money is read from the primary with majority concern: what a decision rests on must not be rolled back. */
export function ledgerCollection(db: Db): Collection<EntryDocument> {
  return openCollection<EntryDocument>(db, 'ledger', durable);
}

/** Beside the ledger, so that what is cut off or written anew there does not fit. */
export function anchorCollection(db: Db): Collection<AnchorDocument> {
  return openCollection<AnchorDocument>(db, 'ledger_heads', durable);
}

/** What makes an operation happen once. */
export const keyIndex: IndexShape = { name: 'key', key: { key: 1 }, unique: true };

/** Holds all that usage is added up of; a day's entries stand together, and in it those of an account. */
export const usageIndex: IndexShape = {
  name: 'usage',
  key: { day: 1, account: 1, kind: 1, model: 1, key_id: 1, end_user: 1, amount: 1 },
};

/** Of entries that end a task: what a day has earned. */
export const endedOnIndex: IndexShape = { name: 'ended_on', key: { ended_on: 1 }, sparse: true };

/** The unique index on `key` needs the collection unsharded, or sharded by `key`. */
export async function ensureLedgerIndexes(db: Db): Promise<void> {
  await ensureIndexes(ledgerCollection(db), [
    keyIndex,
    { name: 'account_seq', key: { account: 1, seq: -1 } },
    { name: 'spent', key: { account: 1, 'spent.scope': 1, seq: -1 } },
    usageIndex,
    endedOnIndex,
  ]);
  await ensureIndexes(anchorCollection(db), [{ name: 'account_seq', key: { account: 1, seq: -1 } }]);
  await ensureTurnLineIndexes(db);
}

/** Whether anything was ever written. */
export async function hasEntries(collection: LedgerCollection): Promise<boolean> {
  const found = await collection.findOne(
    { key: { $gt: '' } },
    { projection: { _id: 1 }, maxTimeMS: readTimeoutMs },
  );
  return found !== null;
}

/** One query on the unique index. */
export async function findByKeys(
  collection: LedgerCollection,
  keys: readonly string[],
): Promise<Map<string, EntryDocument>> {
  if (keys.length === 0) return new Map();
  const found = await collection
    .find({ key: { $in: [...keys] } })
    .maxTimeMS(readTimeoutMs)
    .toArray();
  return new Map(found.map((entry) => [entry.key, entry]));
}

/** The entries of an account after `after`, in order, at most `limit`, up to the first that is missing. By `_id`. */
export async function findSuccessors(
  collection: LedgerCollection,
  account: string,
  range: { readonly after: bigint; readonly limit: number },
): Promise<EntryDocument[]> {
  const seqs = Array.from({ length: range.limit }, (_, n) => range.after + BigInt(n) + 1n);
  return findEntries(collection, account, seqs);
}

/** Entries of an account in the order that is asked for, up to the first that is missing. By `_id`. */
export async function findEntries(
  collection: LedgerCollection,
  account: string,
  seqs: readonly bigint[],
): Promise<EntryDocument[]> {
  const ids = seqs.map((seq) => entryId(account, seq));
  const found = await collection
    .find({ _id: { $in: ids } })
    .maxTimeMS(readTimeoutMs)
    .toArray();
  const byId = new Map(found.map((entry) => [entry._id, entry]));
  const ordered = ids.map((id) => byId.get(id));
  const missing = ordered.indexOf(undefined);
  return ordered.slice(0, missing < 0 ? ordered.length : missing).filter((entry) => entry !== undefined);
}

/** One query on the index of account and seq. */
export async function findLast(
  collection: LedgerCollection,
  account: string,
): Promise<EntryDocument | undefined> {
  const last = await collection.findOne({ account }, { sort: { seq: -1 }, maxTimeMS: readTimeoutMs });
  return last ?? undefined;
}

/**
 * What a scope has spent as of an entry of its account that is known to be written with majority. One query on the index
 * of scopes. Read with local concern: the primary has all entries before a majority one, also just after an election,
 * when a majority read may still be behind. Later entries, which might be rolled back, are left out.
 */
export async function findSpent(
  collection: LedgerCollection,
  account: string,
  { scope, upTo }: { readonly scope: string; readonly upTo: bigint },
): Promise<Spent | undefined> {
  const last = await collection.findOne(
    { account, 'spent.scope': scope, seq: { $lte: upTo } },
    {
      sort: { seq: -1 },
      projection: { spent: 1 },
      readConcern: { level: 'local' },
      maxTimeMS: readTimeoutMs,
    },
  );
  return last?.spent?.find((sums) => sums.scope === scope);
}

/**
 * Writes entries in order and returns how many are there now, with majority: all of them, or those before the first
 * whose `_id` or `key` exists. Any other failure is thrown, and then nothing is known about any of them.
 */
export async function insertInOrder(
  collection: LedgerCollection,
  entries: readonly EntryDocument[],
): Promise<number> {
  if (entries.length === 0) return 0;
  try {
    await collection.insertMany([...entries], { ordered: true });
    return entries.length;
  } catch (error) {
    if (!isDuplicateKey(error) || !(error instanceof MongoBulkWriteError)) throw error;
    const [first] = [error.writeErrors].flat();
    // With a write concern error beside it, the entries before the duplicate may still be rolled back.
    if (first === undefined || error.result.getWriteConcernError() !== undefined) throw error;
    // Not insertedCount: not every server leaves the refused ones out of it.
    return first.index;
  }
}
