import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTidyKeySlots } from '../../src/capacity/slot-upkeep.ts';
import { taskFailures } from '../../src/task/failures.ts';
import { createKeySlotStore, type KeySlotStore } from '../../src/store/key-slots.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { pauseFirstAt } from '../support/race.ts';
import { firstRecord, taskDriver } from '../support/task-records.ts';
import { testSealing } from '../support/sealing.ts';

const until = Date.now() + 3_600_000;

describe('the slots of a key', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let clock = Date.now();
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.drop());

  const open = (): KeySlotStore => createKeySlotStore(database.db, () => clock);
  const countOf = async (key: string): Promise<number> =>
    (await open().list()).find((entry) => entry.key === key)?.tasks.length ?? 0;

  it('never exceed the limit, however many processes ask at once', async () => {
    const processes = [open(), open(), open()];
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => processes[n % 3]?.take('k1', { task: `t${n}`, until }, 7)),
    );
    expect(answers.filter((taken) => taken === true)).toHaveLength(7);
    expect(await countOf('k1')).toBe(7);
  });

  it('are exact with a limit of 1 if one process asks while another is about to write', async () => {
    const [first, second] = [open(), open()];
    const paused = pauseFirstAt('slots.take', 'slow');
    const slow = first.take('k2', { task: 'slow', until }, 1);
    await paused.reached;
    expect(await second.take('k2', { task: 'fast', until }, 1)).toBe(true);
    paused.release();
    expect(await slow).toBe(false);
    expect(await countOf('k2')).toBe(1);
  });

  it('count a task once, however often and from wherever it asks, also at the limit', async () => {
    const processes = [open(), open()];
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => processes[n % 2]?.take('k3', { task: 'same', until }, 2)),
    );
    expect(answers).toEqual(Array.from({ length: 10 }, () => true));
    expect(await countOf('k3')).toBe(1);
    expect(await open().take('k3', { task: 'other', until }, 2)).toBe(true);
    expect(await open().take('k3', { task: 'same', until }, 2)).toBe(true);
    expect(await open().take('k3', { task: 'third', until }, 2)).toBe(false);
  });

  it('are free after a release, which may be repeated and affects no other task', async () => {
    const slots = open();
    await slots.take('k4', { task: 'a', until }, 2);
    await slots.take('k4', { task: 'b', until }, 2);
    await slots.release('k4', 'a');
    await slots.release('k4', 'a');
    await slots.release('unlimited', 'a');
    expect(await slots.take('k4', { task: 'c', until }, 2)).toBe(true);
    expect(await slots.take('k4', { task: 'd', until }, 2)).toBe(false);
  });

  it('follow a limit that is lowered or raised', async () => {
    const slots = open();
    for (const task of ['a', 'b', 'c']) await slots.take('k5', { task, until }, 3);
    await slots.release('k5', 'a');
    expect(await slots.take('k5', { task: 'd', until }, 2)).toBe(false);
    expect(await slots.take('k5', { task: 'd', until }, 3)).toBe(true);
    expect(await slots.take('k5', { task: 'e', until }, 4)).toBe(true);
  });

  it('expire if their holder died', async () => {
    const slots = open();
    expect(await slots.take('k6', { task: 'lost', until: clock + 1000 }, 1)).toBe(true);
    expect(await slots.take('k6', { task: 'next', until }, 1)).toBe(false);
    clock += 1001;
    expect(await slots.take('k6', { task: 'next', until }, 1)).toBe(true);
    expect(await countOf('k6')).toBe(1);
  });

  it('are cleaned up: an ended task and a dead admission are removed, an unfinished task stays', async () => {
    const [slots, tasks] = [open(), createTaskStore(database.db, () => clock, testSealing)];
    for (const id of ['ended', 'running']) {
      await tasks.insert(firstRecord(id, { key: 'k7', createdAt: clock, deadlineAt: until }));
    }
    await taskDriver(tasks).fail('ended', taskFailures.upstream);
    for (const task of ['ended', 'running', 'died']) await slots.take('k7', { task, until }, 4);
    clock += 6 * 60_000;
    await slots.take('k7', { task: 'new', until }, 4);
    await createTidyKeySlots(slots, { tasks, onFailed: () => undefined, now: () => clock })();
    const left = (await slots.list()).find(({ key }) => key === 'k7')?.tasks.map(({ task }) => task);
    expect(left).toEqual(['running', 'new']);
  });
});
