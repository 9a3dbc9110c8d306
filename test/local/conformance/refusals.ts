import { check, codeOf, type Check } from './check.ts';

/**
 * The oldest supported MongoDB rejects these operations or stores something else, so the stand-in must too. A newer
 * server may accept them, so these checks do not apply to every server.
 */
export const refusalChecks: readonly Check[] = [
  ...[{ $set: {} }, { $unset: {}, $inc: { n: 1 } }, { $push: {} }].map((update) =>
    check(`an operator without fields is error 9: ${JSON.stringify(update)}`, [9, 9], async (collection) => {
      await collection.insertOne({ _id: 'a', n: 1 });
      return [
        await codeOf(() => collection.updateOne({ _id: 'a' }, update)),
        await codeOf(() => collection.findOneAndUpdate({ _id: 'a' }, update)),
      ];
    }),
  ),

  ...['$name', 'deep.name', '__proto__'].map((name) =>
    check(`a field is not called ${name}`, [52, 52, 52], async (collection) => {
      await collection.insertOne({ _id: 'a' });
      const named: object = JSON.parse(`{"${name}":1}`);
      return [
        await codeOf(() => collection.insertOne({ _id: 'b', within: [named] })),
        await codeOf(() => collection.updateOne({ _id: 'a' }, { $set: { within: named } })),
        await codeOf(() => collection.replaceOne({ _id: 'a' }, { within: named })),
      ];
    }),
  ),

  check('nothing is nested deeper than a hundred levels', ['none', 15], async (collection) => {
    const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
    return [
      await codeOf(() => collection.insertOne({ _id: 'a', within: nested(90) })),
      await codeOf(() => collection.insertOne({ _id: 'b', within: nested(110) })),
    ];
  }),

  check('an index of documents that pass a filter is refused, not made of all', 67, (collection) =>
    codeOf(() => collection.createIndex({ a: 1 }, { partialFilterExpression: { a: { $gt: 1 } } })),
  ),

  check(
    'a majority read does not see at once what the primary alone has acknowledged; a local one does',
    ['hidden', 'a'],
    async (collection) => {
      // The write becomes visible after 100 ms. If the machine pauses for that long, the write is no longer hidden, so
      // repeat the check.
      let isHidden = false;
      for (let tries = 0; tries < 50 && !isHidden; tries += 1) {
        await collection.updateOne(
          { _id: 'a' },
          { $inc: { n: 1 } },
          { upsert: true, writeConcern: { w: 1 } },
        );
        isHidden = (await collection.findOne({ n: tries + 1 })) === null;
      }
      const local = await collection.findOne({ n: { $gt: 0 } }, { readConcern: { level: 'local' } });
      return [isHidden ? 'hidden' : 'none', local?._id];
    },
  ),

  check('a command has no variables', 40_415, (collection) =>
    codeOf(() => collection.updateOne({ _id: 'a' }, { $set: { n: 1 } }, { let: { n: 1 } })),
  ),
];
