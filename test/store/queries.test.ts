import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureLedgerIndexes } from '../../src/ledger/collection.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import type { Mongo } from '../../src/store/mongo.ts';
import { createStores, ensureStoreIndexes } from '../../src/store/stores.ts';
import {
  isRecording,
  queryListText,
  readIndexes,
  readQueryList,
  renderQueryList,
  servedBy,
  writeQueryList,
} from '../support/query-list.ts';
import { describeShape, parseShape, servingIndex, shapeOfFilter } from '../support/query-shape.ts';
import type { IndexKeys, QueryShape } from '../support/query-shape.ts';
import { databaseUri } from '../support/run-servers.ts';
import { testSealing } from '../support/sealing.ts';

let mongo: Mongo;
const indexes = new Map<string, readonly IndexKeys[]>();

beforeAll(async () => {
  mongo = await connectMongo(databaseUri('store_queries'));
  await mongo.db.dropDatabase();
  await ensureStoreIndexes(createStores(mongo.db, Date.now, testSealing));
  await ensureLedgerIndexes(mongo.db);
  for (const collection of await mongo.db.collections()) {
    const found = await collection.indexes();
    const own = found.filter(({ name }) => name !== '_id_');
    if (own.length > 0)
      indexes.set(
        collection.collectionName,
        own
          .map(({ name = '', key }) => ({ name, key: numbers(key) }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      );
  }
});

afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo.close();
});

function numbers(key: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(Object.entries(key).map(([field, direction]) => [field, Number(direction)]));
}

describe('docs/queries.md', () => {
  it('names the index that serves each query', () => {
    const rows = [...readQueryList()];
    expect(rows.length).toBeGreaterThan(50);
    if (isRecording) writeQueryList(rows, indexes);
    expect(queryListText()).toBe(renderQueryList(rows, indexes));
    expect(Object.fromEntries(readIndexes())).toEqual(Object.fromEntries(indexes));
  });

  it('has no query that reads a whole collection or sorts in memory', () => {
    expect([...readQueryList()].filter((row) => servedBy(parseShape(row), indexes) === undefined)).toEqual(
      [],
    );
  });
});

describe('an index serves', () => {
  const keys: IndexKeys[] = [
    { name: 'account_sort', key: { account: 1, sort: -1 } },
    { name: 'account_status_sort', key: { account: 1, status: 1, sort: -1 } },
  ];
  const serving = (filter: unknown, sort: Record<string, 1 | -1> = {}) =>
    servingIndex({ filter: shapeOfFilter(filter), sort }, keys);

  it.each<[string, unknown, Record<string, 1 | -1>, string | undefined]>([
    ['one document', { _id: 'a', state: { $ne: 'x' } }, {}, '_id_'],
    ['several by _id', { _id: { $in: ['a', 'b'] } }, {}, '_id_'],
    ['a prefix', { account: 'a' }, {}, 'account_sort'],
    ['a prefix and a range', { account: 'a', sort: { $lt: 's' } }, { sort: -1 }, 'account_sort'],
    ['the longest prefix', { account: 'a', status: 's' }, { sort: -1 }, 'account_status_sort'],
    ['an order turned round', { account: 'a' }, { sort: 1 }, 'account_sort'],
    ['the parts of $and', { $and: [{ account: 'a' }, { sort: { $lt: 1 } }] }, {}, 'account_sort'],
    ['not what it does not begin with', { status: 's' }, {}, undefined],
    ['not an order that it does not have', { account: 'a' }, { created_at: -1 }, undefined],
    ['not the absence of a field', { account: { $exists: false } }, {}, undefined],
    ['not an empty filter', {}, {}, undefined],
  ])('%s', (_, filter, sort, index) => {
    expect(serving(filter, sort)).toBe(index);
  });

  it('a row says what the query was', () => {
    const shape: QueryShape = {
      collection: 'tasks',
      operation: 'find',
      filter: shapeOfFilter({ account: 'a', sort: { $lt: 's' }, 'tasks.4': { $exists: false } }),
      sort: { sort: -1 },
      file: 'store/tasks.ts',
    };
    expect(describeShape(shape)).toBe(
      '| tasks | find | account =, sort range, tasks.N test | sort -1 | store/tasks.ts |',
    );
    expect(describeShape(parseShape(`${describeShape(shape)} account_sort |`))).toBe(describeShape(shape));
  });
});
