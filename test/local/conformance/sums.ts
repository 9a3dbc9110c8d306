import { check, type Check } from './check.ts';

export const sumChecks: readonly Check[] = [
  check(
    'a sum is an int64 as soon as one summand is, and an int32 of none',
    { _id: null, all: 5n, some: 3n, flags: 2, none: 0 },
    async (collection) => {
      await collection.insertMany([{ _id: 'a', n: 2n }, { _id: 'b', n: 3n }, { _id: 'c' }]);
      const some = { $cond: [{ $eq: ['$_id', 'b'] }, '$n', 0n] };
      const flags = { $cond: [{ $lt: ['$n', 10] }, 1, 0] };
      const sums = { all: { $sum: '$n' }, some: { $sum: some }, none: { $sum: '$missing' } };
      const $group = { _id: null, ...sums, flags: { $sum: { $cond: [{ $gt: ['$n', null] }, flags, 0] } } };
      return (await collection.aggregate([{ $group }]).toArray())[0];
    },
  ),

  check(
    'the first of each group after a sort is the last of each account',
    [
      { _id: 'a', seq: 3n },
      { _id: 'b', seq: 2n },
    ],
    async (collection) => {
      await collection.createIndex({ account: 1, seq: -1 });
      await collection.insertMany([
        { _id: 'a/1', account: 'a', seq: 1n },
        { _id: 'b/2', account: 'b', seq: 2n },
        { _id: 'a/3', account: 'a', seq: 3n },
        { _id: 'none' },
      ]);
      const pipeline = [
        { $match: { account: { $gt: '' } } },
        { $sort: { account: 1, seq: -1 } },
        { $group: { _id: '$account', seq: { $first: '$seq' } } },
        { $sort: { _id: 1 } },
      ];
      return collection.aggregate(pipeline).toArray();
    },
  ),

  check(
    'groups by the first of a list, or by a default, know the least of their members',
    [
      { _id: { kind: 'x', where: '' }, count: 1, since: 1 },
      { _id: { kind: 'x', where: 'one' }, count: 2, since: 2 },
    ],
    async (collection) => {
      await collection.insertMany([
        { _id: 'a', kind: 'x', at: 1 },
        { _id: 'b', kind: 'x', at: 3, left: [{ where: 'one' }, { where: 'two' }] },
        { _id: 'c', kind: 'x', at: 2, where: 'one' },
      ]);
      const first = { $arrayElemAt: ['$left.where', 0] };
      const where = { $ifNull: ['$where', { $ifNull: [first, ''] }] };
      const $group = { _id: { kind: '$kind', where }, count: { $sum: 1 }, since: { $min: '$at' } };
      return collection.aggregate([{ $group }, { $sort: { since: 1 } }]).toArray();
    },
  ),
];
