import { MongoClient, type Db, type Document } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { createVerifyContext } from '../../src/ledger/verify-context.ts';
import { databaseUri } from '../support/run-servers.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('test_ledger_records');
const until = 1_700_000_000_000;

type Row = Document & { readonly _id: string };

async function openContext(wrap = (db: Db): Db => db) {
  const client = new MongoClient(databaseUri(world.db.databaseName), { monitorCommands: true });
  onTestFinished(() => client.close());
  const commands: Document[] = [];
  client.on('commandStarted', ({ command }) => void commands.push(command));
  const options = {
    db: wrap(client.db()),
    key: testLedgerKey,
    holders: async () => new Map(),
    now: () => until,
  };
  return { context: createVerifyContext(options, () => undefined), commands };
}

it('every record is read, whatever its fields contain, in one unfiltered query', async () => {
  const record = { account: 'a', status: 'failed' };
  const strange = [
    {},
    { sort: null },
    { sort: 7 },
    { status: 'gone' },
    { status: null },
    { completedAt: 'x' },
  ];
  await world.db
    .collection<Row>('tasks')
    .insertMany(strange.map((fields, n) => ({ _id: `${n}`, ...record, ...fields })));
  const { context, commands } = await openContext();
  const seen: string[] = [];
  for await (const { _id } of context.everyRecord()) seen.push(_id);
  expect(seen.toSorted()).toEqual(strange.map((_, n) => `${n}`));
  expect(commands.flatMap(({ find, filter }) => (find === 'tasks' ? [filter] : []))).toEqual([{}]);
});

it('the names of all accounts are read before the first account is verified', async () => {
  const names = Array.from({ length: 2_100 }, (_, n) => `acc${n}`);
  await world.db
    .collection<Row>('ledger')
    .insertMany(names.map((account) => ({ _id: `${account}/1`, account, key: account })));
  const { context, commands } = await openContext(answeringInBatches);
  const seen: string[] = [];
  let sent = 0;
  for await (const account of context.accounts()) {
    if (seen.length === 0) sent = commands.length;
    seen.push(account);
  }
  expect(sent).toBeGreaterThan(1);
  expect(commands).toHaveLength(sent);
  expect(seen.toSorted()).toEqual(names.toSorted());
});

/**
 * Makes the stand-in send long aggregation responses in batches, as MongoDB does. On its own, it does so only for a
 * find.
 */
function answeringInBatches(db: Db): Db {
  return new Proxy(db, {
    get: (target, name) => {
      if (name !== 'collection') return bound(target, name);
      return (...asked: Parameters<Db['collection']>) => {
        const collection = db.collection<Row>(...asked);
        const rows = () => collection.find({}, { batchSize: 500 }).map(({ account }) => ({ _id: account }));
        return new Proxy(collection, {
          get: (inner, method) => (method === 'aggregate' ? rows : bound(inner, method)),
        });
      };
    },
  });
}

function bound(target: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
}
