import fc from 'fast-check';
import { MongoClient, type Collection, type Document, type IndexDirection } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { mongodbUri } from '../support/run-servers.ts';

type Thing = Document & { _id: string };

const indexes: Record<string, IndexDirection>[] = [
  { a: 1 },
  { a: 1, b: -1 },
  { b: -1, c: 1, a: 1 },
  { c: -1, _id: -1 },
  { 'deep.x': 1, a: -1 },
];

const value = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.bigInt({ min: -2n, max: 3n }),
  fc.constantFrom('', 'm', 'z', null, 0.5, -0, 2 ** 53, 2n ** 53n + 1n, true),
);
/** Arrays are left out, because the server behind the stand-in cannot sort by them. */
const sortable = fc.constantFrom('a', 'b', 'c', 'deep.x', '_id');
const field = fc.oneof({ weight: 5, arbitrary: sortable }, fc.constantFrom('tags', 'many.x'));
const things = fc.array(
  fc.record(
    {
      a: value,
      b: value,
      c: value,
      deep: fc.record({ x: value }),
      tags: fc.array(value, { maxLength: 3 }),
      many: fc.array(fc.record({ x: value }, { requiredKeys: [] }), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
  { minLength: 40, maxLength: 40 },
);
const condition = fc.oneof(
  value,
  fc.record({ $in: fc.array(value, { maxLength: 4 }) }),
  fc.record({ $gt: value, $lte: value }, { requiredKeys: ['$gt'] }),
  fc.record({ $gte: value, $lt: value }, { requiredKeys: ['$lt'] }),
  fc.record({ $ne: value }),
  fc.record({ $exists: fc.boolean() }),
);
const fields = fc.dictionary(field, condition, { maxKeys: 3 });
const query = fc.oneof(
  { weight: 4, arbitrary: fields },
  { weight: 1, arbitrary: fc.record({ $and: fc.array(fields, { minLength: 1, maxLength: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ $or: fc.array(fields, { minLength: 1, maxLength: 2 }) }) },
);
const sort = fc.uniqueArray(fc.tuple(sortable, fc.constantFrom(1 as const, -1 as const)), {
  selector: ([name]) => name,
  maxLength: 3,
});

let client: MongoClient;

beforeAll(async () => {
  client = await MongoClient.connect(mongodbUri());
});

afterAll(async () => {
  await client.close();
});

async function find(
  collection: Collection<Thing>,
  filter: Document,
  order: readonly (readonly [string, 1 | -1])[],
  limit: number,
): Promise<string[]> {
  // Sort by `_id` last, so that the order is total and both results can be compared item by item.
  const total = new Map([...order, ['_id', 1] as const].toReversed());
  const found = await collection
    .find(filter)
    .sort(new Map([...total].toReversed()))
    .limit(limit)
    .toArray();
  return found.map(({ _id }) => _id);
}

it('indexes change the cost of a query, but never its result', async () => {
  const db = client.db('queries');
  await fc.assert(
    fc.asyncProperty(
      things,
      fc.array(fc.tuple(query, sort, fc.integer({ min: 0, max: 7 })), { minLength: 25, maxLength: 25 }),
      async (documents, questions) => {
        const plain = db.collection<Thing>('plain');
        const indexed = db.collection<Thing>('indexed');
        await Promise.all([plain.drop(), indexed.drop()].map((done) => done.catch(() => false)));
        await Promise.all(indexes.map((key) => indexed.createIndex(key)));
        await indexed.createIndex({ b: 1 }, { sparse: true });
        await indexed.createIndex({ tags: 1 }, { sparse: true });
        await indexed.createIndex({ 'many.x': 1 });
        const rows = documents.map((row, n) => ({ _id: `${n % 7}-${n}`, ...row }));
        await Promise.all([plain.insertMany(rows), indexed.insertMany(rows)]);
        for (const [filter, order, limit] of questions) {
          const expected = await find(plain, filter, order, limit);
          expect(await find(indexed, filter, order, limit)).toEqual(expected);
          expect(await indexed.countDocuments(filter)).toBe(await plain.countDocuments(filter));
        }
      },
    ),
    { numRuns: 15 },
  );
});
