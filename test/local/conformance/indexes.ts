import { check, codeOf, type Check } from './check.ts';

export const indexChecks: readonly Check[] = [
  check('a unique index refuses the second of a value: error 11000', 11_000, async (collection) => {
    await collection.createIndex({ key: 1 }, { unique: true });
    await collection.insertOne({ _id: 'a', key: 'x' });
    return codeOf(() => collection.insertOne({ _id: 'b', key: 'x' }));
  }),

  check('a unique index counts a missing field as null', 11_000, async (collection) => {
    await collection.createIndex({ key: 1 }, { unique: true });
    await collection.insertOne({ _id: 'a' });
    return codeOf(() => collection.insertOne({ _id: 'b' }));
  }),

  check('a compound unique index refuses the same tuple only', ['none', 11_000], async (collection) => {
    await collection.createIndex({ account: 1, seq: -1 }, { unique: true });
    await collection.insertOne({ _id: 'a', account: 'x', seq: 1n });
    return [
      await codeOf(() => collection.insertOne({ _id: 'b', account: 'x', seq: 2n })),
      await codeOf(() => collection.insertOne({ _id: 'c', account: 'x', seq: 1n })),
    ];
  }),

  check(
    'a sparse unique index accepts any number of documents without the field',
    ['none', 'none', 'none', 11_000],
    async (collection) => {
      await collection.createIndex({ key: 1 }, { unique: true, sparse: true });
      return [
        await codeOf(() => collection.insertOne({ _id: 'a' })),
        await codeOf(() => collection.insertOne({ _id: 'b' })),
        await codeOf(() => collection.insertOne({ _id: 'c', key: 'x' })),
        await codeOf(() => collection.insertOne({ _id: 'd', key: 'x' })),
      ];
    },
  ),

  check(
    'an update follows a sparse unique index: taken, refused, given back',
    ['none', 11_000, 'none', 'none'],
    async (collection) => {
      await collection.createIndex({ key: 1 }, { unique: true, sparse: true });
      await collection.insertMany([{ _id: 'a' }, { _id: 'b' }]);
      const take = (_id: string) => codeOf(() => collection.updateOne({ _id }, { $set: { key: 'x' } }));
      return [
        await take('a'),
        await take('b'),
        await codeOf(() => collection.updateOne({ _id: 'a' }, { $unset: { key: '' } })),
        await take('b'),
      ];
    },
  ),

  check('a deleted document frees its unique value', 'none', async (collection) => {
    await collection.createIndex({ key: 1 }, { unique: true });
    await collection.insertOne({ _id: 'a', key: 'x' });
    await collection.deleteOne({ _id: 'a' });
    return codeOf(() => collection.insertOne({ _id: 'b', key: 'x' }));
  }),

  check('a refused update leaves document and index as they were', ['b', 'a'], async (collection) => {
    await collection.createIndex({ key: 1 }, { unique: true });
    await collection.insertMany([
      { _id: 'a', key: 'x' },
      { _id: 'b', key: 'y' },
    ]);
    await codeOf(() => collection.updateOne({ _id: 'b' }, { $set: { key: 'x' } }));
    return [(await collection.findOne({ key: 'y' }))?._id, (await collection.findOne({ key: 'x' }))?._id];
  }),

  check('making an index again is a no-op', ['key_1', 'key_1', 2], async (collection) => [
    await collection.createIndex({ key: 1 }, { unique: true }),
    await collection.createIndex({ key: 1 }, { unique: true }),
    (await collection.indexes()).length,
  ]),

  check('making an index again with other options is error 85 or 86', true, async (collection) => {
    await collection.createIndex({ key: 1 }, { name: 'key' });
    const code = await codeOf(() => collection.createIndex({ key: 1 }, { name: 'key', unique: true }));
    return code === 85 || code === 86;
  }),

  check(
    'a unique index over duplicates is error 11000, and is not there',
    [11_000, 1],
    async (collection) => {
      await collection.insertMany([
        { _id: 'a', key: 'x' },
        { _id: 'b', key: 'x' },
      ]);
      const code = await codeOf(() => collection.createIndex({ key: 1 }, { unique: true }));
      return [code, (await collection.indexes()).length];
    },
  ),

  check('an index over existing documents knows them', 11_000, async (collection) => {
    await collection.insertOne({ _id: 'a', key: 'x' });
    await collection.createIndex({ key: 1 }, { unique: true });
    return codeOf(() => collection.insertOne({ _id: 'b', key: 'x' }));
  }),

  check(
    'a TTL index is accepted, and listed with its options',
    [{ key: { at: 1 }, name: 'expiry', expireAfterSeconds: 60 }],
    async (collection) => {
      await collection.createIndex({ at: 1 }, { expireAfterSeconds: 60, name: 'expiry' });
      await collection.insertOne({ _id: 'a', at: new Date() });
      const listed = await collection.indexes();
      return listed
        .filter(({ name }) => name === 'expiry')
        .map(({ key, name, expireAfterSeconds }) => ({ key, name, expireAfterSeconds }));
    },
  ),

  check('a dropped index no longer refuses', 'none', async (collection) => {
    await collection.createIndex({ key: 1 }, { unique: true });
    await collection.insertOne({ _id: 'a', key: 'x' });
    await collection.dropIndex('key_1');
    return codeOf(() => collection.insertOne({ _id: 'b', key: 'x' }));
  }),
];
