import {
  MongoClient,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOutage } from '../../src/store/mongo.ts';
import { openDatabase } from '../capacity/support.ts';

const server = (code: number) => new MongoServerError({ message: 'm', code });

it.each<[string, unknown]>([
  ['a lost connection', new MongoNetworkError('connection 1 closed')],
  ['no server', new MongoServerSelectionError('none', {} as never)],
  ['a socket of our own', Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })],
  ['a server that is no longer the primary', server(10_107)],
  ['a server that shuts down', server(11_600)],
  ['a write that the majority has not confirmed in time', server(64)],
  ['an operation that took too long', server(50)],
  ['a server without the right', server(13)],
])('%s is an outage: the same operation may succeed later', (_, error) => {
  expect(isOutage(error)).toBe(true);
});

it.each<[string, unknown]>([
  ['a duplicate key', server(11_000)],
  ['a value of the wrong type', server(14)],
  ['a document that is too large', server(10_334)],
  ['an update that makes one too large', server(17_419)],
  ['an upsert that makes one too large', server(17_420)],
  ['the same of a MongoDB 8', server(7_655_103)],
  ['what the driver does not even send', new MongoInvalidArgumentError('Document is larger than 16777216')],
  ['a document that fails its validation', server(121)],
  ['an error of our own', new TypeError('x is undefined')],
  ['no error at all', 'away'],
  ['nothing', undefined],
])('%s is not an outage', (_, error) => {
  expect(isOutage(error)).toBe(false);
});

describe('a server’s message', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.drop());

  const errorOf = (act: (db: Db) => Promise<unknown>): Promise<unknown> =>
    act(database.db).then(
      () => 'no error',
      (error: unknown) => error,
    );

  it('about the written data is not an outage', async () => {
    const things = database.db.collection<{ _id: string; n: unknown }>('things');
    await things.insertOne({ _id: 'a', n: 'text' });
    const refused = await Promise.all([
      errorOf(() => things.insertOne({ _id: 'a', n: 1 })),
      errorOf(() => things.updateOne({ _id: 'a' }, { $inc: { n: 1 } } as never)),
      errorOf(() => things.updateOne({ _id: 'a' }, { $push: { n: 1 } } as never)),
    ]);
    expect(refused.map((error) => error instanceof MongoServerError)).toEqual([true, true, true]);
    expect(refused.map(isOutage)).toEqual([false, false, false]);
  });

  it('about a missing server is an outage', async () => {
    const client = new MongoClient('mongodb://127.0.0.1:1/x', { serverSelectionTimeoutMS: 200 });
    expect(isOutage(await errorOf(() => client.db().command({ ping: 1 })))).toBe(true);
    await client.close();
  });
});
