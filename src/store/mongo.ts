import { MongoClient, MongoError, MongoInvalidArgumentError, MongoServerError, ReadConcern } from 'mongodb';
import type { Collection, Db, Document, IndexDirection, MongoClientOptions, UpdateFilter } from 'mongodb';
import { messageOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { endUnfinishedWrites } from './unfinished-writes.ts';

export interface Mongo {
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

export interface MongoSettings {
  /** Our name in the server's log and in currentOp. */
  readonly appName?: string;
  /** Most connections that this process keeps. */
  readonly poolSize?: number;
}

const databaseDefault = 'mediary';
const poolSizeDefault = 50;
const serverSelectionTimeoutMs = 10_000;
const connectTimeoutMs = 10_000;
/** Longer than any single command of ours; a half-dead server must not hold a request forever. */
const socketTimeoutMs = 30_000;
const waitQueueTimeoutMs = 10_000;
const majorityTimeoutMs = 10_000;

/**
 * How a collection is read and written. The two concerns belong together: a majority read does not see yet what the
 * primary alone has acknowledged. Each collection names one of them, since a connection string may name something weaker.
 */
export type Concerns = typeof durable | typeof primaryOnly;

/** For whatever a decision, money or an answer rests on. */
export const durable = {
  writeConcern: { w: 'majority', wtimeoutMS: majorityTimeoutMs },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
} as const;

/** For what may be lost in an election, at the cost of a repetition or a gap. */
export const primaryOnly = {
  writeConcern: { w: 1 },
  readConcern: { level: 'local' },
  readPreference: 'primary',
} as const;

/** Opens a collection: int64 is read as bigint, and its own writes are visible to its next read. */
export function openCollection<Schema extends Document>(
  db: Db,
  name: string,
  concerns: Concerns,
): Collection<Schema> {
  return db.collection<Schema>(name, { ...concerns, useBigInt64: true });
}

/**
 * Connects, and fails within ten seconds if no server answers, at once with a MongoAddressError if the address is none.
 * Every int64 is read as bigint; every write waits for the majority. Works on a stand-alone server, a replica set and a sharded cluster.
 */
export async function connectMongo(uri: string, settings: MongoSettings = {}): Promise<Mongo> {
  endUnfinishedWrites();
  const client = createClient(uri, {
    appName: settings.appName ?? databaseDefault,
    maxPoolSize: settings.poolSize ?? poolSizeDefault,
    useBigInt64: true,
    ignoreUndefined: true,
    ...durable,
    serverSelectionTimeoutMS: serverSelectionTimeoutMs,
    connectTimeoutMS: connectTimeoutMs,
    socketTimeoutMS: socketTimeoutMs,
    waitQueueTimeoutMS: waitQueueTimeoutMs,
  });
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  const db = client.db(databaseName(uri), { ...durable, readConcern: new ReadConcern('majority') });
  return { client, db, close: () => client.close() };
}

/** The connection string is none, or has an option that does not exist. The message does not repeat it. */
export class MongoAddressError extends Error {}

function createClient(uri: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(uri, options);
  } catch (error) {
    throw new MongoAddressError(messageOf(error).replaceAll(uri, '…'), { cause: error });
  }
}

/** The path of the connection string; the driver itself would fall back to `test`. */
export function databaseName(uri: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(uri)?.[1];
  return path === undefined ? databaseDefault : decodeURIComponent(path);
}

/**
 * What `findOneAndUpdate` needs to read one document as the majority has it: an election may leave a read behind, and no
 * write. Null means that there is none, which is certain.
 */
export const readByWrite = [{ $inc: { reads: 1 } }, { returnDocument: 'after' }] as const;

/**
 * Builds an update whose fields depend on its arguments. Undefined fields are left out, and so are operators without
 * fields, which servers before 5.0 refuse.
 */
export function updateWith<Schema extends Document>(operators: UpdateFilter<Schema>): UpdateFilter<Schema>;
export function updateWith(operators: Readonly<Record<string, object>>): object {
  const kept = Object.entries(operators).map(
    ([operator, fields]) => [operator, defined({ ...fields })] as const,
  );
  return Object.fromEntries(kept.filter(([, fields]) => Object.keys(fields).length > 0));
}

/** Two writers met on one `_id` or unique key; for insertMany: its first failure was that. */
export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === duplicateKeyCode;
}

/** The server ended a query at its `maxTimeMS`. */
export function isOverTime(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === overTimeCode;
}

/** Runs an insert, or what may become one. False: there is a document of this `_id`, or of a key of it, already. */
export async function unlessThere(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
}

/** An upsert that is repeated: of two first writers of a document, both may try to insert it. */
export async function repeatOnDuplicate<Result>(upsert: () => Promise<Result>): Promise<Result> {
  try {
    return await upsert();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return upsert();
  }
}

const duplicateKeyCode = 11_000;
const overTimeCode = 50;
const noSuchCollectionCode = 26;
const indexConflictCodes: readonly unknown[] = [85, 86];

export interface IndexShape {
  readonly name: string;
  /** In order. */
  readonly key: Readonly<Record<string, IndexDirection>>;
  readonly unique?: true;
  readonly sparse?: true;
  /** TTL; the field must be a Date. */
  readonly expireAfterSeconds?: number;
}

/** Of a collection whose documents have the end of their life in `expires`. */
export const expiring: IndexShape = { name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 };

/** An index of this name or key exists in another shape: changing it is a migration, never a side effect of a start. */
export class IndexConflictError extends Error {
  constructor(collection: string, wanted: IndexShape, { found, cause }: { found: string; cause?: unknown }) {
    super(
      `index ${collection}.${wanted.name} exists in another shape: wanted ${describeIndex({ ...wanted })}, found ${found}. ` +
        `Drop it by hand (db.${collection}.dropIndex("${wanted.name}")) once nothing depends on it, then start again.`,
      { cause },
    );
    this.name = 'IndexConflictError';
  }
}

/** Creates what is missing and keeps what exists; any number of processes may do so at once. */
export async function ensureIndexes<Schema extends Document>(
  collection: Collection<Schema>,
  shapes: readonly IndexShape[],
): Promise<void> {
  const existing = await listIndexes(collection);
  for (const shape of shapes) {
    const found = existing.find((index) => index['name'] === shape.name);
    if (found !== undefined && describeIndex(found) !== describeIndex({ ...shape })) {
      throw new IndexConflictError(collection.collectionName, shape, { found: describeIndex(found) });
    }
    if (found === undefined) await createIndex(collection, shape);
  }
}

/** Whether an index of this name and shape exists. */
export async function hasIndex<Schema extends Document>(
  collection: Collection<Schema>,
  shape: IndexShape,
): Promise<boolean> {
  const existing = await listIndexes(collection);
  return existing.some(
    (index) => index['name'] === shape.name && describeIndex(index) === describeIndex({ ...shape }),
  );
}

async function createIndex<Schema extends Document>(
  collection: Collection<Schema>,
  shape: IndexShape,
): Promise<void> {
  const { key, ...options } = shape;
  try {
    await collection.createIndex({ ...key }, options);
  } catch (error) {
    if (!(error instanceof MongoServerError) || !indexConflictCodes.includes(error.code)) throw error;
    throw new IndexConflictError(collection.collectionName, shape, { found: error.message, cause: error });
  }
}

async function listIndexes<Schema extends Document>(
  collection: Collection<Schema>,
): Promise<Record<string, unknown>[]> {
  try {
    const found: unknown[] = await collection.listIndexes().toArray();
    return found.filter(isRecord);
  } catch (error) {
    if (error instanceof MongoServerError && error.code === noSuchCollectionCode) return [];
    throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Only what decides behaviour, written alike for a wish and for a listing (which leaves out what is false). */
function describeIndex(index: Readonly<Record<string, unknown>>): string {
  const shape = {
    key: index['key'],
    unique: index['unique'] === true,
    sparse: index['sparse'] === true,
    expireAfterSeconds: index['expireAfterSeconds'],
    partialFilterExpression: index['partialFilterExpression'],
  };
  // Directions and times come back as int32, int64 or double.
  return JSON.stringify(shape, (_name, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  );
}

/** What the server says of a document or of a command, however often it is asked. Too large has several codes. */
const contentCodes: ReadonlySet<unknown> = new Set([
  2, 9, 14, 28, 40, 66, 121, 171, 10334, 11000, 17280, 17419, 17420, 7655103,
]);

/** Whether the same operation may succeed later: the database, or the way to it, is at fault, and not what is written. */
export function isOutage(error: unknown): boolean {
  if (error instanceof MongoServerError) return !contentCodes.has(error.code);
  if (error instanceof MongoInvalidArgumentError) return false;
  return error instanceof MongoError || (error instanceof Error && 'syscall' in error);
}
