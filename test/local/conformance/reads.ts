import { check, codeOf, idsOf, type Check, type Subject } from './check.ts';

export const readChecks: readonly Check[] = [
  check(
    'find with prefix, range, sort and limit reads both ways',
    ['a4 a3', 'a1 a2', 'a3 a2', 'a5'],
    async (collection) => {
      await insertPages(collection);
      await collection.createIndex({ account: 1, seq: -1 });
      const find = (seq: object, direction: 1 | -1) =>
        idsOf(collection.find({ account: 'a', seq }).sort({ seq: direction }).limit(2).toArray());
      return [
        await find({ $lt: 5n }, -1),
        await find({ $lt: 5n }, 1),
        await find({ $gte: 2n, $lte: 3n }, -1),
        await find({ $gt: 4n }, 1),
      ];
    },
  ),

  check('findOne with a sort finds the last', 'b5', async (collection) => {
    await insertPages(collection);
    await collection.createIndex({ account: 1, seq: -1 });
    return (await collection.findOne({ account: 'b' }, { sort: { seq: -1 } }))?._id;
  }),

  check('a sort needs no index, and skips', 'b5 a5 b4', async (collection) => {
    await insertPages(collection);
    return idsOf(collection.find().sort({ seq: -1, account: -1 }).limit(3).toArray());
  }),

  check('$in on _id finds what is there, once', 'a1 b2', async (collection) => {
    await insertPages(collection);
    const _id = { $in: ['b2', 'a1', 'missing', 'a1'] };
    return idsOf(collection.find({ _id }).sort({ _id: 1 }).toArray());
  }),

  check('$in on an indexed field, with a sort over another', 'b2 a2 b1 a1', async (collection) => {
    await insertPages(collection);
    await collection.createIndex({ account: 1, seq: 1 });
    const filter = { account: { $in: ['b', 'a'] }, seq: { $lt: 3n } };
    return idsOf(collection.find(filter).sort({ seq: -1, account: -1 }).toArray());
  }),

  check('$or, $ne, $exists and $gte filter', ['a1 b1', 'b5', 'a1', 'a4 a5'], async (collection) => {
    await insertPages(collection);
    await collection.updateOne({ _id: 'a1' }, { $set: { extra: 1 } });
    const find = (filter: object) => idsOf(collection.find(filter).sort({ _id: 1 }).toArray());
    return [
      await find({ $or: [{ _id: 'a1' }, { account: 'b', seq: 1n }] }),
      await find({ account: { $ne: 'a' }, seq: { $gt: 4n } }),
      await find({ extra: { $exists: true } }),
      await find({ account: 'a', seq: { $gte: 4n }, extra: { $exists: false } }),
    ];
  }),

  check('equality with null finds null and missing, with a sparse index too', 'a b', async (collection) => {
    await collection.createIndex({ field: 1 }, { sparse: true });
    await collection.insertMany([{ _id: 'a' }, { _id: 'b', field: null }, { _id: 'c', field: 1 }]);
    return idsOf(collection.find({ field: null }).sort({ _id: 1 }).toArray());
  }),

  check('a sort over a sparse index loses no document', 'a b', async (collection) => {
    await collection.createIndex({ field: 1 }, { sparse: true });
    await collection.insertMany([{ _id: 'b', field: 1 }, { _id: 'a' }]);
    return idsOf(collection.find().sort({ field: 1 }).toArray());
  }),

  check('not in a range are those below it, null and missing', ['a b d', 'c'], async (collection) => {
    await collection.createIndex({ status: 1, sort: -1 });
    await collection.insertMany([
      { _id: 'a', status: 's' },
      { _id: 'b', status: 's', sort: null },
      { _id: 'c', status: 's', sort: '2' },
      { _id: 'd', status: 's', sort: '1' },
    ]);
    const find = (sort: object) => idsOf(collection.find({ status: 's', sort }).sort({ _id: 1 }).toArray());
    return [await find({ $not: { $gte: '2' } }), await find({ $gte: '2' })];
  }),

  check('equality and ranges find members of arrays', ['a', 'a'], async (collection) => {
    await collection.createIndex({ tags: 1 });
    await collection.insertMany([
      { _id: 'a', tags: [1, 5] },
      { _id: 'b', tags: 7 },
    ]);
    const find = (tags: unknown) => idsOf(collection.find({ tags }).sort({ tags: 1 }).toArray());
    return [await find(5), await find({ $lt: 6 })];
  }),

  check('countDocuments counts, with a limit', [5, 2, 0], async (collection) => {
    await insertPages(collection);
    return [
      await collection.countDocuments({ account: 'a' }),
      await collection.countDocuments({ account: 'a', seq: { $gt: 1n } }, { limit: 2 }),
      await collection.countDocuments({ account: 'none' }),
    ];
  }),

  check(
    'projections include, exclude and leave out _id',
    [{ _id: 'a', keep: 1 }, { _id: 'a', keep: 1, deep: { y: 2 } }, { deep: { x: 1 } }],
    async (collection) => {
      await collection.insertOne({ _id: 'a', keep: 1, drop: 2, deep: { x: 1, y: 2 } });
      const project = (projection: Record<string, 0 | 1>) => collection.findOne({ _id: 'a' }, { projection });
      return [
        await project({ keep: 1 }),
        await project({ drop: 0, 'deep.x': 0 }),
        await project({ _id: 0, 'deep.x': 1 }),
      ];
    },
  ),

  // The order does not matter, because MongoDB does not guarantee one. A mongod returns values in the order in which it
  // finds them, and the stand-in sorts them.
  check('distinct returns each value once', [2, new Set(['a', 'b'])], async (collection) => {
    await insertPages(collection);
    const found: readonly unknown[] = await collection.distinct('account');
    return [found.length, new Set(found)];
  }),

  check('a cursor with small batches returns everything once', 10, async (collection) => {
    await insertPages(collection);
    const seen = new Set<string>();
    for await (const { _id } of collection.find().batchSize(3)) {
      seen.add(_id);
    }
    return seen.size;
  }),

  check('a majority read sees its own majority write, within maxTimeMS', 'a', async (collection) => {
    await collection.insertOne({ _id: 'a', n: 1n }, { writeConcern: { w: 'majority', wtimeoutMS: 5_000 } });
    const options = { readConcern: 'majority', maxTimeMS: 5_000 } as const;
    return (await collection.findOne({ _id: 'a', n: 1n }, options))?._id;
  }),

  check('reading a collection that does not exist is empty', [null, 0, 0], async (collection) => [
    await collection.findOne({ _id: 'a' }),
    (await collection.find().toArray()).length,
    await collection.countDocuments(),
  ]),

  check('an unknown operator is an error', true, async (collection) => {
    await collection.insertOne({ _id: 'a' });
    return typeof (await codeOf(() => collection.findOne({ field: { $nonsense: 1 } }))) === 'number';
  }),
];

async function insertPages(collection: Subject): Promise<void> {
  const numbers = [3, 1, 5, 2, 4];
  const documents = ['b', 'a'].flatMap((account) =>
    numbers.map((seq) => ({ _id: `${account}${seq}`, account, seq: BigInt(seq) })),
  );
  await collection.insertMany(documents);
}
