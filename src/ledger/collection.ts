import { MongoBulkWriteError, type Collection, type Db } from 'mongodb';
import { durable, ensureIndexes, isDuplicateKey, openCollection, type IndexShape } from '../store/mongo.ts';
import type { AnchorDocument } from './anchored-heads.ts';
import { entryId, type EntryDocument } from './entry.ts';
import type { Spent } from './spent.ts';
import { ensureTurnLineIndexes } from './turn-lines.ts';

export type LedgerCollection = Pick<
  Collection<EntryDocument>,
  'insertMany' | 'find' | 'findOne' | 'aggregate'
>;

const readTimeoutMs = 10_000;

/**
 * Reads from the primary with majority concern, because no decision about money may depend on a write that could be
 * rolled back.
 */
export function ledgerCollection(db: Db): Collection<EntryDocument> {
  return openCollection<EntryDocument>(db, 'ledger', durable);
}

/** Anchored heads are stored apart from the ledger, so they reveal whether it was truncated or rewritten. */
export function anchorCollection(db: Db): Collection<AnchorDocument> {
  return openCollection<AnchorDocument>(db, 'ledger_heads', durable);
}

export const keyIndex: IndexShape = { name: 'key', key: { key: 1 }, unique: true };

/** Contains every field that usage reports need. Entries are grouped by day and then by account. */
export const usageIndex: IndexShape = {
  name: 'usage',
  key: { day: 1, account: 1, kind: 1, model: 1, key_id: 1, end_user: 1, amount: 1 },
};

export const endedOnIndex: IndexShape = { name: 'ended_on', key: { ended_on: 1 }, sparse: true };

/** The unique index on `key` requires that the collection is unsharded, or sharded by `key`. */
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

export async function hasEntries(collection: LedgerCollection): Promise<boolean> {
  const found = await collection.findOne(
    { key: { $gt: '' } },
    { projection: { _id: 1 }, maxTimeMS: readTimeoutMs },
  );
  return found !== null;
}

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

export async function findSuccessors(
  collection: LedgerCollection,
  account: string,
  range: { readonly after: bigint; readonly limit: number },
): Promise<EntryDocument[]> {
  const seqs = Array.from({ length: range.limit }, (_, n) => range.after + BigInt(n) + 1n);
  return findEntries(collection, account, seqs);
}

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

export async function findLast(
  collection: LedgerCollection,
  account: string,
): Promise<EntryDocument | undefined> {
  const last = await collection.findOne({ account }, { sort: { seq: -1 }, maxTimeMS: readTimeoutMs });
  return last ?? undefined;
}

/**
 * Returns what was spent up to a given entry, which must already be majority-committed. A read with local concern is
 * then safe and, unlike a majority read, does not lag after an election. Later entries are ignored, because they might
 * still be rolled back.
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
 * Inserts entries in order and returns how many of them a majority of the servers now has. The insert stops at the
 * first entry whose `_id` or `key` already existed. After any other failure, this throws, and any entry may or may not
 * exist.
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
    // A write concern error means that even the entries before the duplicate may be rolled back.
    if (first === undefined || error.result.getWriteConcernError() !== undefined) throw error;
    // Do not use insertedCount, because some servers include rejected entries in it.
    return first.index;
  }
}
