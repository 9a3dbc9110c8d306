import { z } from 'zod';
import document from '../../docs/openapi.json' with { type: 'json' };
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureLedgerIndexes } from '../../src/ledger/collection.ts';
import { listQuery } from '../../src/store/task-query.ts';
import { connectMongo, type Mongo } from '../../src/store/mongo.ts';
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

const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z.object({ parameters: z.array(z.object({ name: z.string() })).default([]) }).optional(),
    }),
  ),
});

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

/** The query parameters by which callers filter their tasks, except `key`, which comes from the API key. */
const callersFilters = {
  status: { status: 'running' },
  model: { model: 'm' },
  created_after: { createdAfter: 1 },
  created_before: { createdBefore: 2 },
  key: { key: 'key_1' },
} as const;
const paging = ['limit', 'after', 'include'];

it.each(['/v1/videos/generations', '/v1/images/generations'])('GET %s filters by nothing else', (path) => {
  const { get } = documentSchema.parse(document).paths[path] ?? {};
  const names = get?.parameters.map(({ name }) => name) ?? [];
  expect(new Set([...names, 'key'])).toEqual(new Set([...paging, ...Object.keys(callersFilters)]));
});

describe('an index answers every filter of a caller without reading other tasks', () => {
  const names = Object.entries(callersFilters);
  const combinations = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, at) => (bits >> at) % 2 === 1),
  );

  it.each(
    combinations.map((chosen) => [chosen.map(([name]) => name).join(', ') || 'nothing', chosen] as const),
  )('%s', (_title, chosen) => {
    const asked = Object.assign({}, ...chosen.map(([, filter]) => filter));
    const filter = shapeOfFilter(listQuery({ account: 'a', kind: 'video', ...asked }, 'after'));
    const own = indexes.get('tasks') ?? [];
    const fields = Object.keys(filter).filter(
      (field) => field !== (filter['key'] === undefined ? '' : 'account'),
    );
    const serving = own.filter(({ key }) => fields.every((field) => field in key));
    expect(servingIndex({ filter, sort: { sort: -1 } }, serving)).toBeDefined();
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

  it('a row describes the query', () => {
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
