import { MongoClient, MongoError, MongoInvalidArgumentError, MongoServerError, ReadConcern } from 'mongodb';
import type { Collection, Db, Document, IndexDirection, MongoClientOptions, UpdateFilter } from 'mongodb';
import { messageOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { namedAbilityError } from '../base/server-abilities.ts';
import { endUnfinishedWrites } from './unfinished-writes.ts';

export interface Mongo {
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

export interface MongoSettings {
  readonly appName?: string;
  readonly poolSize?: number;
  /** How long to wait for a server at startup. The default is twenty seconds. */
  readonly foundWithinMs?: number;
}

const databaseDefault = 'mediary';
const poolSizeDefault = 50;
/**
 * A socket that is silent for longer is closed, so that a half-dead server cannot block a request forever. None of our
 * commands takes this long.
 */
const socketTimeoutMs = 30_000;
/**
 * The maximum wait for a server, a connection or the majority. It exceeds the time for which a process is usually
 * suspended, because a suspended process keeps waiting.
 */
const waitMs = 20_000;

/**
 * Each collection sets both concerns, because a connection string might specify weaker ones. They belong together: a
 * majority read does not yet see what only the primary has acknowledged.
 */
export type Concerns = typeof durable | typeof primaryOnly;

/** Use these for everything that decisions, money or responses depend on. */
export const durable = {
  writeConcern: { w: 'majority', wtimeoutMS: waitMs },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
} as const;

/** Use these for data that may be lost in an election. Losing it costs only repeated work or a gap. */
export const primaryOnly = {
  writeConcern: { w: 1 },
  readConcern: { level: 'local' },
  readPreference: 'primary',
} as const;

/** Reads int64 values as bigint. Reads see this process's earlier writes. */
export function openCollection<Schema extends Document>(
  db: Db,
  name: string,
  concerns: Concerns,
): Collection<Schema> {
  return db.collection<Schema>(name, { ...concerns, useBigInt64: true });
}

/**
 * Fails within twenty seconds if no server responds. An invalid connection string throws a MongoAddressError
 * immediately, and an unsupported server version throws a ServerAbilityError. Supports standalone servers, replica sets
 * and sharded clusters.
 */
export async function connectMongo(uri: string, settings: MongoSettings = {}): Promise<Mongo> {
  endUnfinishedWrites();
  const client = createClient(uri, {
    appName: settings.appName ?? databaseDefault,
    maxPoolSize: settings.poolSize ?? poolSizeDefault,
    useBigInt64: true,
    ignoreUndefined: true,
    ...durable,
    serverSelectionTimeoutMS: settings.foundWithinMs ?? waitMs,
    connectTimeoutMS: waitMs,
    socketTimeoutMS: socketTimeoutMs,
    waitQueueTimeoutMS: waitMs,
  });
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw namedAbilityError(error);
  }
  const db = client.db(databaseName(uri), { ...durable, readConcern: new ReadConcern('majority') });
  return { client, db, close: () => client.close() };
}

/** The message does not repeat the connection string, which may contain a password. */
export class MongoAddressError extends Error {}

function createClient(uri: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(uri, options);
  } catch (error) {
    throw new MongoAddressError(messageOf(error).replaceAll(uri, '…'), { cause: error });
  }
}

export function databaseName(uri: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(uri)?.[1];
  return path === undefined ? databaseDefault : decodeURIComponent(path);
}

/**
 * Arguments for `findOneAndUpdate` that read one document as the majority has it. After an election, a read may be
 * stale, but a write cannot be. If the result is null, the document certainly does not exist.
 */
export const readByWrite = [{ $inc: { reads: 1 } }, { returnDocument: 'after' }] as const;

/** Omits undefined fields and empty operators, which servers before 5.0 reject. */
export function updateWith<Schema extends Document>(operators: UpdateFilter<Schema>): UpdateFilter<Schema>;
export function updateWith(operators: Readonly<Record<string, object>>): object {
  const kept = Object.entries(operators).map(
    ([operator, fields]) => [operator, defined({ ...fields })] as const,
  );
  return Object.fromEntries(kept.filter(([, fields]) => Object.keys(fields).length > 0));
}

/**
 * Returns true if another document already has the same `_id` or unique key. After insertMany, only the first failure
 * is checked.
 */
export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === duplicateKeyCode;
}

export function isOverTime(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === overTimeCode;
}

/** Returns false if a document with this `_id`, or one of its unique keys, already exists. */
export async function unlessThere(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
}

/** Retries an upsert once, because two processes may both try to insert the same missing document. */
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
  readonly key: Readonly<Record<string, IndexDirection>>;
  readonly unique?: true;
  readonly sparse?: true;
  /** Makes this a TTL index, whose field must be a Date. */
  readonly expireAfterSeconds?: number;
}

export const expiring: IndexShape = { name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 };

/**
 * An index with this name or key has another definition. Changing it requires a migration and must not happen as a side
 * effect of startup.
 */
export class IndexConflictError extends Error {
  constructor(collection: string, wanted: IndexShape, { found, cause }: { found: string; cause?: unknown }) {
    super(
      `index ${collection}.${wanted.name} exists with another definition: wanted ${describeIndex({ ...wanted })}, found ${found}. ` +
        `Drop it by hand (db.${collection}.dropIndex("${wanted.name}")) once nothing depends on it, then start again.`,
      { cause },
    );
    this.name = 'IndexConflictError';
  }
}

/** Leaves existing indexes alone. Several processes may call this concurrently. */
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

/**
 * Describes only what affects behaviour, so that a wanted index can be compared with the server's. The server omits
 * options that are false.
 */
function describeIndex(index: Readonly<Record<string, unknown>>): string {
  const shape = {
    key: index['key'],
    unique: index['unique'] === true,
    sparse: index['sparse'] === true,
    expireAfterSeconds: index['expireAfterSeconds'],
    partialFilterExpression: index['partialFilterExpression'],
  };
  // The server may return directions and times as int32, int64 or double.
  return JSON.stringify(shape, (_name, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  );
}

/** Codes with which the server permanently rejects a document or command. Some of them mean "too large". */
const contentCodes: ReadonlySet<unknown> = new Set([
  2, 9, 14, 28, 40, 66, 121, 171, 10334, 11000, 17280, 17419, 17420, 7655103,
]);

/**
 * True if the fault lies with the database or the connection rather than the data, so that the same operation may
 * succeed later.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof MongoServerError) return !contentCodes.has(error.code);
  if (error instanceof MongoInvalidArgumentError) return false;
  return error instanceof MongoError || (error instanceof Error && 'syscall' in error);
}
