import { MongoClient, type Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectMongo,
  databaseName,
  ensureIndexes,
  isDuplicateKey,
  IndexConflictError,
} from '../../src/store/mongo.ts';
import type { IndexShape, Mongo } from '../../src/store/mongo.ts';
import { databaseUri } from '../support/run-servers.ts';

const name = 'test_connect_mongo';
let mongo: Mongo;

interface Thing {
  readonly _id: string;
  readonly key?: string;
  readonly amount?: bigint;
}

let things: Collection<Thing>;

beforeAll(async () => {
  mongo = await connectMongo(databaseUri(name), { appName: 'test', poolSize: 2 });
  await mongo.db.dropDatabase();
  things = mongo.db.collection<Thing>('things');
});

afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo.close();
});

describe('connectMongo', () => {
  it.each([
    ['mongodb://localhost', 'mediary'],
    ['mongodb://localhost:27017/', 'mediary'],
    ['mongodb://localhost:27017/?directConnection=true', 'mediary'],
    ['mongodb://u:p%2F@a:1,b:2/orders?replicaSet=r', 'orders'],
    ['mongodb+srv://u:p@cluster.example/my%20orders', 'my orders'],
  ])('takes the database from %s: %s', (uri, expected) => {
    expect(databaseName(uri)).toBe(expected);
  });

  it('uses the database in the connection string', () => {
    expect(mongo.db.databaseName).toBe(name);
  });

  it('reads every int64 as bigint, small ones too', async () => {
    await things.insertOne({ _id: 'small', amount: 1n });
    expect(await things.findOne({ _id: 'small' })).toEqual({ _id: 'small', amount: 1n });
  });

  it('omits undefined fields, and waits for the majority, but not forever', () => {
    expect(mongo.client.options).toMatchObject({
      ignoreUndefined: true,
      writeConcern: { w: 'majority', wtimeoutMS: 20_000 },
      serverSelectionTimeoutMS: 20_000,
      socketTimeoutMS: 30_000,
      connectTimeoutMS: 20_000,
      maxPoolSize: 2,
    });
  });
});

describe('isDuplicateKey', () => {
  it('recognises an existing _id or unique key, after one insert and after many', async () => {
    await ensureIndexes(things, [{ name: 'key', key: { key: 1 }, unique: true, sparse: true }]);
    await things.insertOne({ _id: 'taken', key: 'k' });
    const errors = await Promise.all([
      things.insertOne({ _id: 'taken' }).catch((error: unknown) => error),
      things.insertOne({ _id: 'new', key: 'k' }).catch((error: unknown) => error),
      things.insertMany([{ _id: 'free' }, { _id: 'taken' }]).catch((error: unknown) => error),
    ]);
    expect(errors.map(isDuplicateKey)).toEqual([true, true, true]);
    expect(isDuplicateKey(new Error('E11000'))).toBe(false);
  });
});

describe('ensureIndexes', () => {
  const shapes: IndexShape[] = [
    { name: 'pair', key: { a: 1, b: -1 } },
    { name: 'once', key: { c: 1 }, unique: true, sparse: true },
    { name: 'expires', key: { d: 1 }, expireAfterSeconds: 0 },
  ];

  it('creates missing indexes, even on a collection that does not exist, repeatedly and concurrently', async () => {
    const fresh = mongo.db.collection('fresh');
    await Promise.all([ensureIndexes(fresh, shapes), ensureIndexes(fresh, shapes)]);
    await ensureIndexes(fresh, shapes);
    expect(Object.keys(await fresh.indexInformation()).sort()).toEqual(['_id_', 'expires', 'once', 'pair']);
  });

  it('accepts an index that a client without bigint created', async () => {
    const client = await MongoClient.connect(databaseUri(name));
    await client.db().collection('foreign').createIndex({ a: 1, b: -1 }, { name: 'pair' });
    await client.close();
    await expect(ensureIndexes(mongo.db.collection('foreign'), shapes)).resolves.toBeUndefined();
  });

  it.each<[string, IndexShape]>([
    ['another key', { name: 'pair', key: { a: 1 } }],
    ['another order', { name: 'pair', key: { b: -1, a: 1 } }],
    ['another direction', { name: 'pair', key: { a: 1, b: 1 } }],
    ['another uniqueness', { name: 'pair', key: { a: 1, b: -1 }, unique: true }],
    ['another sparseness', { name: 'once', key: { c: 1 }, unique: true }],
    ['another life time', { name: 'expires', key: { d: 1 }, expireAfterSeconds: 60 }],
  ])('reports an index of the same name with %s, and does not change it', async (_name, wanted) => {
    const kept = mongo.db.collection('kept');
    await ensureIndexes(kept, shapes);
    const before = await kept.indexInformation({ full: true });
    const attempt = ensureIndexes(kept, [wanted]);
    await expect(attempt).rejects.toThrow(IndexConflictError);
    await expect(attempt).rejects.toThrow(
      /^index kept\.\w+ exists with another definition: wanted \{.*\}, found \{/,
    );
    expect(await kept.indexInformation({ full: true })).toEqual(before);
  });
});
