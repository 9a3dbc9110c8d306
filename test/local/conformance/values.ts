import { Binary, Long } from 'mongodb';

import { check, codeOf, fieldOfA, idsOf, type Check, type Subject } from './check.ts';

const megabyte = 1024 * 1024;
const largest = 2n ** 63n - 1n;

export const valueChecks: readonly Check[] = [
  check('int64 comes back as bigint, exactly', [largest, -largest - 1n, 0n], async (collection) => {
    await collection.insertOne({ _id: 'a', amounts: [largest, -largest - 1n, 0n] });
    return fieldOfA(collection, 'amounts');
  }),

  check('a whole number is stored as int32 and comes back as a number', [1, 1.5, 7n], async (collection) => {
    await collection.insertOne({ _id: 'a', values: [1, 1.5, Long.fromNumber(7)] });
    return fieldOfA(collection, 'values');
  }),

  check('$inc keeps int64 beyond 2^53 exact', 2n ** 53n + 3n, async (collection) => {
    await collection.insertOne({ _id: 'a', n: 2n ** 53n });
    await collection.updateOne({ _id: 'a' }, { $inc: { n: 3n } });
    return fieldOfA(collection, 'n');
  }),

  check(
    'int64 beyond 2^53 compares, sorts and is unique exactly',
    ['a', 'c b a', 11_000],
    async (collection) => {
      const base = 2n ** 53n;
      await collection.createIndex({ n: 1 }, { unique: true });
      await collection.insertMany([
        { _id: 'b', n: base + 1n },
        { _id: 'a', n: base },
        { _id: 'c', n: base + 2n },
      ]);
      return [
        await idsOf(collection.find({ n: base }).toArray()),
        await idsOf(collection.find().sort({ n: -1 }).toArray()),
        await codeOf(() => collection.insertOne({ _id: 'd', n: base + 1n })),
      ];
    },
  ),

  check('numbers of different types are equal by value', ['a', 11_000], async (collection) => {
    await collection.createIndex({ n: 1 }, { unique: true });
    await collection.insertOne({ _id: 'a', n: 5n });
    return [
      (await collection.findOne({ n: 5 }))?._id,
      await codeOf(() => collection.insertOne({ _id: 'b', n: 5 })),
    ];
  }),

  check('JSON of callers survives as a string', true, async (collection) => {
    const json = '{"$where":"1","a.b":{"__proto__":{"$set":[]}},"\\u0000":"é😀"}';
    await collection.insertOne({ _id: 'a', json });
    return (await collection.findOne({ _id: 'a', json }))?.['json'] === json;
  }),

  check('an _id may hold slashes, dots, dollars and any letters', '$a/1.b:é😀', async (collection) => {
    await collection.insertOne({ _id: '$a/1.b:é😀' });
    return (await collection.findOne({ _id: '$a/1.b:é😀' }))?._id;
  }),

  check('dates, null, nesting and empty values round trip', true, async (collection) => {
    const values = {
      at: new Date(1_700_000_000_123),
      nothing: null,
      list: [[], {}, [{ a: [''] }]],
      yes: true,
    };
    await collection.insertOne({ _id: 'a', ...values });
    return JSON.stringify(await collection.findOne({ _id: 'a' })) === JSON.stringify({ _id: 'a', ...values });
  }),

  check('binary data round trips', [0, 255, 1, 254], async (collection) => {
    await collection.insertOne({ _id: 'a', bytes: new Binary(Uint8Array.of(0, 255, 1, 254)) });
    const bytes = await fieldOfA(collection, 'bytes');
    return bytes instanceof Binary ? [...bytes.buffer.subarray(0, bytes.length())] : bytes;
  }),

  check('a document of 15 MB is kept, updated and read', 15 * megabyte, async (collection) => {
    await collection.insertOne({ _id: 'a', text: 'x'.repeat(15 * megabyte) });
    await collection.updateOne({ _id: 'a' }, { $set: { n: 1 } });
    return textLength(collection);
  }),

  check('a document of 17 MB is refused', [true, 0], async (collection) => {
    const code = await codeOf(() => collection.insertOne({ _id: 'a', text: 'x'.repeat(17 * megabyte) }));
    return [code !== 'none', await collection.countDocuments()];
  }),

  check('an update cannot grow a document beyond 16 MB', [true, megabyte], async (collection) => {
    await collection.insertOne({ _id: 'a', text: 'x'.repeat(megabyte), more: 'x'.repeat(9 * megabyte) });
    const change = { $set: { again: 'x'.repeat(9 * megabyte) } };
    const code = await codeOf(() => collection.updateOne({ _id: 'a' }, change));
    return [code !== 'none', await textLength(collection)];
  }),
];

async function textLength(collection: Subject): Promise<number> {
  const text = await fieldOfA(collection, 'text');
  return typeof text === 'string' ? text.length : -1;
}
