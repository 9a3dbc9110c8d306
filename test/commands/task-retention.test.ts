import { openCollection, primaryOnly } from '../../src/store/mongo.ts';
import { expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createRemovalMarks } from '../../src/ledger/removal-marks.ts';
import { createRemoveTasks } from '../../src/commands/remove-tasks.ts';
import { createTaskRetention } from '../../src/commands/task-retention.ts';
import { settledText } from '../ledger/support.ts';
import type { TestAccount } from '../support/client.ts';
import { useHttpWorld } from '../support/http-world.ts';
import { onRacePoint } from '../../src/base/race-point.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { succeededWith } from '../support/task-records.ts';

const world = useHttpWorld('task_retention');
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = () => Date.now() + world.clock.aheadMs;
const removedCopies: string[] = [];

const violations = async () =>
  (await world.deps.verifyLedger({})).violations.filter(
    ({ invariant }) => invariant === 'charged_is_succeeded',
  );

function retention(tasksDays: number | undefined) {
  const removeCopies = async (ids: readonly string[]) => {
    removedCopies.push(...ids);
    return ids;
  };
  return createTaskRetention({
    tasks: world.stores.tasks,
    marks: createRemovalMarks(world.db, testLedgerKey),
    removeTasks: createRemoveTasks({ ...world.stores, removeCopies }),
    retention: () => ({
      requestsMs: dayMs,
      exchangesMs: dayMs,
      ...(tasksDays === undefined ? {} : { tasksMs: tasksDays * dayMs }),
    }),
    now,
  });
}

async function finishedTask(account: TestAccount): Promise<string> {
  const id: string = (await account.create()).body.id;
  await world.stores.exchanges.add([{ task: id, submits: ['{}'], polls: [] }]);
  await world.drive.accept(id);
  await world.drive.polled(id, succeededWith('https://u.example/1.mp4'));
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now });
  const money = { account: account.id, task: id, held: 500_000n, amount: 500_000n };
  await ledger.settle({ ...money, basis: settledText(500_000n) });
  await world.drive.step(id, {
    kind: 'ended',
    status: 'succeeded',
    charge: 500_000n,
    chargeEstimated: false,
  });
  return id;
}

const documentsOf = async (id: string) =>
  (
    await Promise.all(
      ['tasks', 'requests', 'exchanges'].map((name) =>
        // Exchanges are written without majority concern, so read them from the primary.
        openCollection<{ _id: string }>(world.db, name, primaryOnly).countDocuments({ _id: id }),
      ),
    )
  ).join();

it('an expired task is removed with everything that belongs to it, and the ledger stays sound', async () => {
  const account = await world.newAccount();
  const old = await finishedTask(account);
  const running: string = (await account.create()).body.id;
  const callback = (await world.stores.requests.find(old))?.callbackToken;
  world.clock.aheadMs += 7 * dayMs - hourMs;
  expect(await retention(7)()).toBe(0);
  expect(await retention(undefined)()).toBe(0);
  const recent = await finishedTask(account);
  world.clock.aheadMs += 2 * hourMs;
  expect(await violations()).toEqual([]);
  expect(await retention(7)()).toBe(1);

  expect([await documentsOf(old), await documentsOf(running), await documentsOf(recent)]).toEqual([
    '0,0,0',
    '1,1,0',
    '1,1,1',
  ]);
  expect(removedCopies).toEqual([old]);
  const gone = await account.call('GET', `/v1/videos/generations/${old}`);
  expect([gone.status, gone.body.error.code]).toEqual([404, 'task_not_found']);
  expect((await account.call('GET', `/v1/videos/generations/${old}/receipt`)).status).toBe(404);
  expect((await world.call('POST', `/callbacks/upstream/${old}/${callback}`, { body: {} })).status).toBe(404);
  const act = { action: 'refund', amount: '0.1', reason: 'x', dry_run: true };
  expect((await world.admin('POST', `/tasks/${old}/actions`, act)).body.error.code).toBe('task_not_found');
  const entries = (await world.admin('GET', `/accounts/${account.id}/ledger`)).body.data.filter(
    ({ task }: { task: string }) => task === old,
  );
  expect(entries.length).toBeGreaterThan(0);
  expect(await violations()).toEqual([]);
});

it('a pending callback is delivered first', async () => {
  const account = await world.newAccount();
  const id = await finishedTask(account);
  await world.db.collection('tasks').updateOne({ _id: id as never }, { $set: { owes: id } });
  world.clock.aheadMs += 8 * dayMs;
  await retention(7)();
  expect(await documentsOf(id)).toBe('1,1,1');
  await world.stores.tasks.oweNothing(id);
  await retention(7)();
  expect(await documentsOf(id)).toBe('0,0,0');
});

it('a process that dies halfway leaves nothing that verify reports, and the next one continues', async () => {
  const account = await world.newAccount();
  const ids = [await finishedTask(account), await finishedTask(account)];
  world.clock.aheadMs += 8 * dayMs;
  onRacePoint((point) => (point === 'retention.marked' ? Promise.reject(new Error('killed')) : undefined));
  await expect(retention(7)()).rejects.toThrow('killed');
  onRacePoint(undefined);
  expect(await violations()).toEqual([]);
  await world.stores.requests.removeMany(ids);
  expect((await Promise.all([retention(7)(), retention(7)()])).reduce((a, b) => a + b)).toBe(2);
  expect(await violations()).toEqual([]);
});

it('a record that anything else removes is reported, whatever mark is written for it', async () => {
  const account = await world.newAccount();
  const id = await finishedTask(account);
  await world.db.collection('tasks').deleteOne({ _id: id as never });
  const found = async () => (await violations()).map(({ task }) => task);
  expect(await found()).toEqual([id]);
  const mark = { _id: `account/${account.id}` as never, before: now() + dayMs, signature: 'ab'.repeat(32) };
  await world.db.collection('removal_marks').insertOne(mark);
  expect(await found()).toEqual([id]);
  await world.db.collection('removal_marks').deleteOne({ _id: mark._id });
  await createRemovalMarks(world.db, testLedgerKey).raiseForAccount(account.id, now());
  expect(await found()).toEqual([]);
});
