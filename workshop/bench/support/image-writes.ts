import { randomUUID } from 'node:crypto';
import { Long, MongoClient } from 'mongodb';

/**
 * What MongoDB can do for image requests: the two writes that one request makes (hold, settle), one after the other,
 * majority concern, the gateway's indexes, nothing else. The gateway writes several of one account together.
 */
export async function openImageWrites(uri: string) {
  const mongo = await MongoClient.connect(uri, { maxPoolSize: 64, writeConcern: { w: 'majority' } });
  const db = mongo.db('ceiling');
  const ledger = db.collection<{ _id: string }>('ledger');
  await Promise.all([
    ledger.createIndex({ key: 1 }, { unique: true }),
    ledger.createIndex({ account: 1, seq: -1 }),
  ]);
  let sequence = 0;
  const entry = (image: string, kind: string) => {
    sequence += 1;
    return {
      _id: `account/${sequence}`,
      account: 'account',
      seq: Long.fromNumber(sequence),
      key: `${image}:${kind}`,
      kind,
      task: image,
      amount: Long.fromNumber(40_000),
      available: Long.fromNumber(1_000_000_000),
      held: Long.fromNumber(40_000),
      basis: '{"unit":"image","price":"0.04"}',
      at: Date.now(),
      prev_hash: '0'.repeat(64),
      hash: '0'.repeat(64),
    };
  };
  return {
    once: async (): Promise<void> => {
      const image = randomUUID();
      await ledger.insertOne(entry(image, 'hold'));
      await ledger.insertOne(entry(image, 'close'));
    },
    close: () => mongo.close(),
  };
}
