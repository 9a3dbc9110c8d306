import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MongoClient, type Collection, type Db } from 'mongodb';
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest';

import { startMongo, type TestMongo } from '../support/servers.ts';

type Entry = { _id: string; account: string; seq: bigint; version: bigint; key?: string };

let directory: string;
let mongo: TestMongo;
let client: MongoClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-fallback-'));
  mongo = await startMongo({ dir: directory });
  client = new MongoClient(mongo.uri, {
    useBigInt64: true,
    // The stores use this write concern. On any MongoDB, only what a majority has in its journal survives kill -9.
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 10_000 },
  });
});

afterAll(async () => {
  await client.close();
  await mongo.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A real mongod also counts work of its own, so these counts can be compared only on the stand-in. */
function onlyForTheStandIn(context: TestContext): void {
  context.skip(mongo.kind !== 'java', 'this machine has a real mongod');
}

async function entriesIn(db: Db): Promise<Collection<Entry>> {
  const entries = db.collection<Entry>('entries');
  await entries.createIndexes([
    { key: { account: 1, seq: -1 } },
    { key: { key: 1 }, unique: true, sparse: true },
  ]);
  return entries;
}

const entry = (n: number): Entry => ({
  _id: `e${n}`,
  account: `account${n % 10}`,
  seq: BigInt(n),
  version: 0n,
  ...(n % 2 === 0 ? { key: `key${n}` } : {}),
});

async function insert(entries: Collection<Entry>, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += 5_000) {
    const count = Math.min(5_000, to - start);
    await entries.insertMany(Array.from({ length: count }, (_, index) => entry(start + index)));
  }
}

async function scanned(): Promise<number> {
  const { metrics } = await client.db('admin').command({ serverStatus: 1 });
  return Number(metrics.queryExecutor.scannedObjects);
}

async function costs(entries: Collection<Entry>): Promise<Record<string, number>> {
  const account = 'account3';
  const operations: Record<string, () => Promise<unknown>> = {
    'guarded update by _id': () =>
      entries.updateOne({ _id: 'e3', version: { $lt: 9n } }, { $inc: { version: 1n } }),
    'cold head': () => entries.findOne({ account }, { sort: { seq: -1 } }),
    'page of a list': () =>
      entries
        .find({ account, seq: { $lt: 90n } })
        .sort({ seq: -1 })
        .limit(5)
        .toArray(),
    'page read backwards': () =>
      entries
        .find({ account, seq: { $gt: 10n } })
        .sort({ seq: 1 })
        .limit(5)
        .toArray(),
    '$in on _id': () => entries.find({ _id: { $in: ['e1', 'e2', 'nothing'] } }).toArray(),
    '$in on a unique key': () => entries.find({ key: { $in: ['key2', 'key4', 'nothing'] } }).toArray(),
    'unique key with a guard': () => entries.findOne({ key: 'key2', version: { $gte: 0n } }),
    'counted up to a limit': () => entries.countDocuments({ account }, { limit: 3 }),
    'findOneAndUpdate by _id': () =>
      entries.findOneAndUpdate({ _id: 'e5', version: 0n }, { $set: { version: 0n } }),
    'guarded delete by _id': () => entries.deleteOne({ _id: 'e7', version: 99n }),
    'upsert of an _id': () => entries.updateOne({ _id: 'e9' }, { $set: { version: 1n } }, { upsert: true }),
  };
  const found: Record<string, number> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const before = await scanned();
    await operation();
    found[name] = (await scanned()) - before;
  }
  return found;
}

it('every frequent access costs the same with 20,000 documents as with 100', async (context) => {
  onlyForTheStandIn(context);
  const entries = await entriesIn(client.db('costs'));
  await insert(entries, 0, 100);
  const small = await costs(entries);
  expect(Math.max(...Object.values(small))).toBeLessThanOrEqual(10);
  await insert(entries, 100, 20_000);
  expect(await costs(entries)).toEqual(small);
});

it('acknowledged writes survive kill -9 completely, with their indexes', async () => {
  const entries = await entriesIn(client.db('crash'));
  const acknowledged = new Map<string, bigint>();
  let running = true;
  const writer = async (lane: number): Promise<void> => {
    for (let n = lane; running; n += 8) {
      const { _id } = entry(n);
      await entries.insertOne(entry(n));
      acknowledged.set(_id, 0n);
      await entries.updateOne({ _id, version: 0n }, { $set: { version: 1n, seq: BigInt(n + 1_000_000) } });
      acknowledged.set(_id, 1n);
    }
  };
  const writers = Array.from({ length: 8 }, (_, lane) => writer(lane).catch(() => undefined));
  await expect.poll(() => acknowledged.size).toBeGreaterThan(300);
  await mongo.kill();
  running = false;
  await mongo.restart();
  await Promise.all(writers);

  const all = await entries.find().toArray();
  const versions = new Map(all.map(({ _id, version }) => [_id, version]));
  const lost = [...acknowledged].filter(([id, version]) => (versions.get(id) ?? -1n) < version);
  expect(lost).toEqual([]);
  // Each document can be found through the secondary index.
  for (const { account, seq, _id } of all) {
    expect(await entries.findOne({ account, seq })).toMatchObject({ _id });
  }
  const keyed = all.filter(({ key }) => key !== undefined);
  const byKey = await entries.find({ key: { $in: keyed.map(({ key }) => key ?? '') } }).toArray();
  expect(byKey).toHaveLength(keyed.length);
  const listed = await entries.find({ account: { $gte: '' } }).toArray();
  expect(listed).toHaveLength(all.length);
  await expect(entries.insertOne({ ...entry(0), _id: 'again' })).rejects.toMatchObject({ code: 11_000 });
});

it('data and indexes survive a stop and a start', async () => {
  const before = await entriesIn(client.db('restart'));
  await insert(before, 0, 50);
  await before.createIndex({ version: 1 }, { name: 'expiry', expireAfterSeconds: 60 });
  await mongo.restart();
  const after = client.db('restart').collection<Entry>('entries');
  expect(await after.countDocuments()).toBe(50);
  expect(await after.findOne({ _id: 'e4' })).toEqual(entry(4));
  expect((await after.indexes()).map(({ name }) => name)).toEqual([
    '_id_',
    'account_1_seq_-1',
    'key_1',
    'expiry',
  ]);
  await expect(after.insertOne({ ...entry(4), _id: 'again' })).rejects.toMatchObject({ code: 11_000 });
});

it('the file does not grow without bound under updates', async (context) => {
  onlyForTheStandIn(context);
  const entries = await entriesIn(client.db('growth'));
  await insert(entries, 0, 2_000);
  const fileBytes = async (): Promise<number> => (await stat(join(directory, 'mongodb/fallback.mv'))).size;
  let next = 0;
  const update = async (count: number): Promise<void> => {
    const end = next + count;
    const lane = async (): Promise<void> => {
      while (next < end) {
        const n = next++;
        await entries.updateOne(
          { _id: `e${(n * 7) % 2_000}` },
          { $set: { seq: BigInt(n), version: BigInt(n) } },
        );
      }
    };
    await Promise.all(Array.from({ length: 16 }, lane));
  };
  await update(1_000);
  const settled = await fileBytes();
  await update(2_000);
  // Without compaction, each update would leave about 30 KB behind, 60 MB in total.
  expect(await fileBytes()).toBeLessThan(settled + 20_000_000);
});

it('a reader never sees a partial update', async () => {
  const pairs = client.db('torn').collection<{ _id: string; left: string; right: string }>('pairs');
  await pairs.insertOne({ _id: 'a', left: '0', right: '0' });
  let running = true;
  const writing = (async () => {
    for (let n = 1; running; n += 1) {
      const value = String(n).repeat(2_000);
      await pairs.updateOne({ _id: 'a' }, { $set: { left: value, right: value } });
    }
  })();
  for (let n = 0; n < 200; n += 1) {
    const pair = await pairs.findOne({ _id: 'a' });
    expect(pair?.left).toBe(pair?.right);
  }
  running = false;
  await writing;
});
