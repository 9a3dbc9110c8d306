import { MongoClient, ReadConcern } from 'mongodb';
import { expect, it } from 'vitest';
import { createTurnLines } from '../../src/ledger/turn-lines.ts';
import { durable, primaryOnly } from '../../src/store/mongo.ts';
import { databaseUri } from '../support/run-servers.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('mediary_turn_lines');
const by = { key: 'key_1', model: 'video-1' };

it('processes queue once each, in the order in which they came', async () => {
  const lines = createTurnLines(world.db, Date.now);
  const account = world.newAccount();
  expect(await lines.look(account)).toEqual({ line: [], turn: 0 });
  expect(await lines.leave(account, 'one')).toEqual({ line: [], turn: 0 });
  await Promise.all(['one', 'one', 'one'].map((process) => lines.join(account, process)));
  expect(await lines.join(account, 'two')).toMatchObject({ line: ['one', 'two'], turn: 0 });
  expect(await lines.join(account, 'one')).toMatchObject({ line: ['one', 'two'] });
  expect(await lines.leave(account, 'one')).toMatchObject({ line: ['two'], turn: 1 });
  expect(await lines.join(account, 'one')).toMatchObject({ line: ['two', 'one'], turn: 1 });
  expect(await lines.look(account)).toMatchObject({ line: ['two', 'one'], turn: 1 });
  const [document] = await world.db.collection('ledger_lines', primaryOnly).find().toArray();
  expect(document?.['expires'].getTime()).toBeGreaterThan(Date.now());
});

it('a process is visible in the queue as soon as it has joined, whatever the majority has', async () => {
  const client = new MongoClient(databaseUri(world.db.databaseName), { monitorCommands: true });
  const asked: unknown[] = [];
  client.on('commandStarted', ({ command: { find, findAndModify, readConcern, writeConcern } }) => {
    if ((find ?? findAndModify) === 'ledger_lines') asked.push(readConcern?.level ?? writeConcern?.w);
  });
  const lines = createTurnLines(
    client.db(undefined, { ...durable, readConcern: new ReadConcern('majority') }),
    Date.now,
  );
  const account = world.newAccount();
  await lines.join(account, 'one');
  await lines.look(account);
  await lines.leave(account, 'one');
  await client.close();
  expect(asked).toEqual([1, 'local', 1]);
});

it('processes that all want one account append one after the other, and leave no queue behind', async () => {
  const account = world.newAccount();
  let collisions = 0;
  const meter = { beginAppend: () => () => undefined, countCollision: () => void (collisions += 1) };
  const ledgers = await Promise.all([1, 2, 3, 4].map(() => world.openLedger({ meter })));
  const [first] = ledgers;
  await first?.credit({ account, amount: 100n, reference: 'first' });
  const holdAll = async (ledger: (typeof ledgers)[number], n: number): Promise<string[]> => {
    const answers: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const held = await Promise.all(
        Array.from({ length: 8 }, (_, caller) => {
          const task = `${account}.${n}.${round}.${caller}`;
          return ledger.hold({ account, task, by, amount: 1n, basis: '{}', overdraftLimit: 0n });
        }),
      );
      answers.push(...held.map((result) => (result.ok ? 'held' : result.refused)));
    }
    return answers;
  };
  const answers = (await Promise.all(ledgers.map(holdAll))).flat();
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(100);
  expect(answers.filter((answer) => answer === 'insufficient_balance')).toHaveLength(60);
  await expect(world.chainFaults(account)).resolves.toEqual([]);
  expect(collisions).toBeGreaterThan(0);
  const lines = createTurnLines(world.db, Date.now);
  await expect.poll(async () => (await lines.look(account)).line).toEqual([]);
  expect((await lines.look(account)).turn).toBeGreaterThan(0);
});

it('a process waits if another is in the queue, and stops waiting for one that is gone', async () => {
  const account = world.newAccount();
  const lines = createTurnLines(world.db, Date.now);
  const ledger = await world.openLedger();
  await lines.join(account, 'gone');
  for (let n = 0; n < 40; n += 1) await ledger.credit({ account, amount: 1n, reference: `${n}` });
  await expect.poll(() => lines.look(account)).toMatchObject({ line: [], turn: 2 });
  expect(await ledger.balance(account)).toMatchObject({ available: 40n });
});
