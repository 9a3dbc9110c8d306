import { MongoClient } from 'mongodb';
import type { Db, Document } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { dayMs } from '../../src/base/times.ts';
import { createVerifyContext } from '../../src/ledger/verify-context.ts';
import { windowsFrom } from '../../src/ledger/verify-records.ts';
import { sortKey } from '../../src/store/task-document.ts';
import { databaseUri } from '../support/run-servers.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('test_ledger_records');
const until = 1_700_000_000_000;

type Row = Document & { readonly _id: string };

/** What is read for a verification, and the commands that are sent for it. */
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

it('every record is read once, a day of creations in a command, whatever its sort is', async () => {
  const from = until - 3 * dayMs - 1;
  const times = [from, from + dayMs - 1, from + dayMs, from + 3 * dayMs, until, until + dayMs];
  const sorts: unknown[] = [
    ...times.map((at) => sortKey(at, 'x')),
    ...times.map((at) => sortKey(at, '')),
    null,
    7,
  ];
  const record = { account: 'a', status: 'failed' };
  await world.db
    .collection<Row>('tasks')
    .insertMany([
      { _id: 'none', ...record },
      ...sorts.map((sort, n) => ({ _id: `${n}`, ...record, sort })),
      { _id: 'other', ...record, status: 'succeeded', completedAt: until },
      { _id: 'later', ...record, status: 'succeeded', completedAt: until + 1, sort: sortKey(from, '') },
    ]);
  const { context, commands } = await openContext();
  const seen: string[] = [];
  for await (const { _id } of context.tasksOf('failed')) seen.push(_id);
  expect(seen.toSorted()).toEqual(['none', ...sorts.map((_, n) => `${n}`)].toSorted());
  const searched = commands.filter(({ find, filter }) => find === 'tasks' && filter.sort?.$gt === undefined);
  expect(searched.map(({ filter }) => filter.sort)).toEqual(
    windowsFrom(sortKey(from, ''), until).map(({ sort }) => sort),
  );
  expect(searched).toHaveLength(5);
  expect(await context.countSucceeded(until)).toBe(1);
});

it.each([
  ['of no record', undefined, 1],
  ['of a record that is not in the past', sortKey(until, ''), 1],
  ['of one that says nothing of its time', 'x', 1],
  ['of one of a moment ago', sortKey(until - 1, ''), 2],
  ['of one of a year ago', sortKey(until - 365 * dayMs, ''), 366],
  ['of one that pretends to be of 1970', sortKey(0, ''), 1_001],
])('from the lowest sort %s there are so many windows', (_, first, count) => {
  expect(windowsFrom(first, until)).toHaveLength(count);
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

/** What a MongoDB does with a long answer to an aggregation, and the stand-in does with one to a find only. */
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
