import { Binary, MongoBulkWriteError } from 'mongodb';

import { check, codeOf, fieldOfA, idsOf, type Check, type Subject } from './check.ts';

const racers = Array.from({ length: 20 }, (_, index) => index);

export const writeChecks: readonly Check[] = [
  check('a second insert of an _id is error 11000', ['none', 11_000], async (collection) => [
    await codeOf(() => collection.insertOne({ _id: 'a' })),
    await codeOf(() => collection.insertOne({ _id: 'a', other: 1 })),
  ]),

  check('of many inserts of one _id, one succeeds', { none: 1, 11000: 19 }, async (collection) =>
    tally(await Promise.all(racers.map((racer) => codeOf(() => collection.insertOne({ _id: 'a', racer }))))),
  ),

  check(
    'an ordered insertMany stops at the first duplicate and says which it was',
    { code: 11_000, indices: [2], inserted: 2, kept: 'a b c' },
    async (collection) => {
      await collection.insertOne({ _id: 'a' });
      const documents = ['b', 'c', 'a', 'd'].map((_id) => ({ _id }));
      const error = await bulkErrorOf(() => collection.insertMany(documents, { ordered: true }));
      return { ...error, kept: await idsOf(collection.find().sort({ _id: 1 }).toArray()) };
    },
  ),

  check(
    'an unordered insertMany inserts all but the duplicates',
    { code: 11_000, indices: [0, 2], inserted: 2, kept: 'a b c' },
    async (collection) => {
      await collection.insertOne({ _id: 'a' });
      const documents = ['a', 'b', 'a', 'c'].map((_id) => ({ _id }));
      const error = await bulkErrorOf(() => collection.insertMany(documents, { ordered: false }));
      return { ...error, kept: await idsOf(collection.find().sort({ _id: 1 }).toArray()) };
    },
  ),

  check('an update with a guard matches while the guard holds', [1, 0, 2n], async (collection) => {
    await collection.insertOne({ _id: 'a', version: 1n });
    const guarded = { _id: 'a', version: { $lt: 2n } };
    const first = await collection.updateOne(guarded, { $set: { version: 2n } });
    const second = await collection.updateOne(guarded, { $set: { version: 2n } });
    return [first.matchedCount, second.matchedCount, await fieldOfA(collection, 'version')];
  }),

  check('of many guarded updates, one wins', 1, async (collection) => {
    await collection.insertOne({ _id: 'a', version: 0n });
    const results = await Promise.all(
      racers.map((racer) =>
        collection.updateOne({ _id: 'a', version: 0n }, { $set: { version: 1n, racer } }),
      ),
    );
    return results.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0);
  }),

  check('an update that changes nothing matches and modifies nothing', [1, 0], async (collection) => {
    await collection.insertOne({ _id: 'a', state: 'sending' });
    const result = await collection.updateOne({ _id: 'a' }, { $set: { state: 'sending' } });
    return [result.matchedCount, result.modifiedCount];
  }),

  check(
    '$set, $unset, $inc and nested paths work in one update',
    { _id: 'a', kept: 1, set: 'x', deep: { old: 1, fresh: 2 }, sum: 5n },
    async (collection) => {
      await collection.insertOne({ _id: 'a', kept: 1, gone: 1, deep: { old: 1 }, sum: 2n });
      const change = { $set: { set: 'x', 'deep.fresh': 2 }, $unset: { gone: '' }, $inc: { sum: 3n } };
      await collection.updateOne({ _id: 'a' }, change);
      return collection.findOne({ _id: 'a' });
    },
  ),

  check(
    '$max raises the field of the element that the filter has found',
    [
      { of: 'x', until: 1 },
      { of: 'y', until: 5 },
    ],
    async (collection) => {
      await collection.insertOne({ _id: 'a', list: [1, 2].map((until, n) => ({ of: 'xy'[n], until })) });
      for (const until of [5, 3])
        await collection.updateOne({ _id: 'a', 'list.of': 'y' }, { $max: { 'list.$.until': until } });
      return fieldOfA(collection, 'list');
    },
  ),

  check('$push with $each and a negative $slice keeps the newest', [2, 3], async (collection) => {
    for (const n of [1, 2, 3]) {
      // Untyped, because the collection's type does not say that the field is an array.
      const push: object = { $push: { list: { $each: [n], $slice: -2 } } };
      await collection.updateOne({ _id: 'a' }, push, { upsert: true });
    }
    return fieldOfA(collection, 'list');
  }),

  check(
    '$addToSet with an upsert adds once, $pull takes out',
    [{ _id: 'a', line: ['x', 'y'], turn: 0 }, { _id: 'a', line: ['y'], turn: 1 }, null],
    async (collection) => {
      const join = (process: string): Promise<unknown> => {
        // Untyped, because the collection's type does not say that the field is an array.
        const update: object = { $addToSet: { line: process }, $setOnInsert: { turn: 0 } };
        return collection.findOneAndUpdate({ _id: 'a' }, update, { upsert: true, returnDocument: 'after' });
      };
      const leave = (_id: string): Promise<unknown> => {
        const update: object = { $pull: { line: 'x' }, $inc: { turn: 1 } };
        return collection.findOneAndUpdate({ _id }, update, { returnDocument: 'after' });
      };
      await join('x');
      await join('y');
      return [await join('x'), await leave('a'), await leave('b')];
    },
  ),

  check(
    'a place in a list is free, or not: a guard for a list with a limit',
    [1, 1, 0, 1, 1],
    async (collection) => {
      await collection.insertOne({ _id: 'a', list: [] });
      const add = async (n: number): Promise<number> => {
        const push: object = { $push: { list: { n, until: n } } };
        const guard = { _id: 'a', 'list.n': { $ne: n }, 'list.1': { $exists: false } };
        return (await collection.updateOne(guard, push)).modifiedCount;
      };
      const added = [await add(1), await add(2), await add(3)];
      const pull: object = { $pull: { list: { until: { $lte: 1 } } } };
      return [...added, (await collection.updateOne({ _id: 'a' }, pull)).modifiedCount, await add(3)];
    },
  ),

  check('$max raises dates and numbers, and lowers none', [2, new Date(2)], async (collection) => {
    for (const n of [1, 2, 1]) {
      await collection.updateOne({ _id: 'a' }, { $max: { n, at: new Date(n) } }, { upsert: true });
    }
    return [await fieldOfA(collection, 'n'), await fieldOfA(collection, 'at')];
  }),

  check('bytes inside of a document are a guard', [0, 1], async (collection) => {
    const bytes = (last: number): Binary => new Binary(Uint8Array.of(0, 255, last));
    await collection.insertOne({ _id: 'a', sealed: { key: 'k', head: bytes(1) } });
    const replace = async (head: Binary): Promise<number> =>
      (await collection.updateOne({ _id: 'a', 'sealed.head': head }, { $set: { n: 1 } })).matchedCount;
    return [await replace(bytes(2)), await replace(bytes(1))];
  }),

  check(
    '$setOnInsert is written by the upsert that inserts only',
    [1, 0, { _id: 'a', n: 2n, created: 1 }],
    async (collection) => {
      const upsert = (n: bigint, created: number) =>
        collection.updateOne({ _id: 'a' }, { $set: { n }, $setOnInsert: { created } }, { upsert: true });
      const first = await upsert(1n, 1);
      const second = await upsert(2n, 2);
      return [first.upsertedCount, second.upsertedCount, await collection.findOne({ _id: 'a' })];
    },
  ),

  check('racing upserts make one document and lose no increment', [true, true], async (collection) => {
    const outcomes = await Promise.all(
      racers.map(() =>
        codeOf(() => collection.updateOne({ _id: 'a' }, { $inc: { n: 1n } }, { upsert: true })),
      ),
    );
    const done = outcomes.filter((outcome) => outcome === 'none').length;
    const honest = outcomes.every((outcome) => outcome === 'none' || outcome === 11_000);
    return [honest, (await fieldOfA(collection, 'n')) === BigInt(done)];
  }),

  check('an upsert whose guard fails on an existing _id is error 11000', 11_000, async (collection) => {
    await collection.insertOne({ _id: 'a', version: 5n });
    const guarded = { _id: 'a', version: { $lt: 5n } };
    return codeOf(() => collection.updateOne(guarded, { $set: { version: 5n } }, { upsert: true }));
  }),

  check(
    'findOneAndUpdate returns the document after, or null',
    [{ _id: 'a', n: 2n }, null],
    async (collection) => {
      await collection.insertOne({ _id: 'a', n: 1n });
      const increment = (_id: string) =>
        collection.findOneAndUpdate({ _id }, { $inc: { n: 1n } }, { returnDocument: 'after' });
      return [await increment('a'), await increment('b')];
    },
  ),

  check('findOneAndUpdate hands each waiting document to one taker', 'a b c', async (collection) => {
    await collection.insertMany([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]);
    const takers = racers.map((taker) =>
      collection.findOneAndUpdate({ taker: { $exists: false } }, { $set: { taker } }, { sort: { _id: 1 } }),
    );
    const taken = (await Promise.all(takers)).filter((document) => document !== null);
    return taken
      .map(({ _id }) => _id)
      .toSorted()
      .join(' ');
  }),

  check('two operators on one path are error 40', 40, (collection) =>
    codeOf(() => collection.updateOne({ _id: 'a' }, { $set: { n: 1 }, $inc: { n: 1 } }, { upsert: true })),
  ),

  check('an _id is immutable: error 66', 66, async (collection) => {
    await collection.insertOne({ _id: 'a' });
    return codeOf(() => collection.updateOne({ _id: 'a' }, { $set: { _id: 'b' } }));
  }),

  check('updateMany, deleteOne and deleteMany count', [3, 1, 2, 0], async (collection) => {
    await collection.insertMany([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]);
    const updated = await collection.updateMany({}, { $set: { group: 1 } });
    const one = await collection.deleteOne({ group: 1 });
    const rest = await collection.deleteMany({ group: 1 });
    return [updated.modifiedCount, one.deletedCount, rest.deletedCount, await collection.countDocuments()];
  }),

  check('replaceOne leaves nothing of the old document', { _id: 'a', fresh: 1 }, async (collection) => {
    await collection.insertOne({ _id: 'a', old: 1 });
    await collection.replaceOne({ _id: 'a' }, { fresh: 1 });
    return collection.findOne({ _id: 'a' });
  }),
];

async function bulkErrorOf(operation: () => ReturnType<Subject['insertMany']>): Promise<object> {
  try {
    await operation();
    return { code: 'none' };
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) {
      throw error;
    }
    const indices = [error.writeErrors].flat().map(({ index }) => index);
    return { code: error.code, indices, inserted: error.insertedCount };
  }
}

function tally(outcomes: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes.map(String)) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
