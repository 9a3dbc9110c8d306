import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallbackRecord } from '../../src/task/callback-record.ts';
import { ownCallbackRound as ownRound } from '../../src/base/ids.ts';
import { taskFailures } from '../../src/task/failures.ts';
import { toDocument, type TaskDocument } from '../../src/store/task-document.ts';
import { createTaskStore, type TaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { firstRecord, taskDriver } from '../support/task-records.ts';
import { testSealing } from '../support/sealing.ts';

const target = 'https://me.example';

let database: Awaited<ReturnType<typeof openDatabase>>;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  await open().ensureIndexes();
});
afterAll(() => database.drop());

const open = (): TaskStore => createTaskStore(database.db, Date.now, testSealing);

async function newTask(): Promise<string> {
  const id = `task_${(count += 1)}`;
  await open().insert(firstRecord(id, { hasCallback: true }));
  return id;
}

async function endedTask(): Promise<string> {
  const id = await newTask();
  await taskDriver(open()).fail(id, taskFailures.upstream);
  return id;
}

const begin = (task: string, round: string, to = target) => open().beginCallback({ task, round, target: to });
const record = (task: string, round: string, ...heard: Heard) =>
  open().recordCallback({ task, round, target }, ...heard);
type Heard = [Parameters<TaskStore['recordCallback']>[1], CallbackRecord['state']];
const callbackOf = async (task: string) => (await open().find(task))?.callback;
const stateOf = async (task: string) => (await callbackOf(task))?.state;
const answered = (at: number, status: number) => ({ at, durationMs: 1, status });

async function idsOf(tasks: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of tasks) ids.push(id);
  return ids;
}

describe('a pending callback', () => {
  const isOwed = async (task: string) => (await idsOf(open().owing())).includes(task);

  it('is pending from the task’s end on, through failed attempts, until it is delivered', async () => {
    const task = await newTask();
    expect(await isOwed(task)).toBe(false);
    await taskDriver(open()).fail(task, taskFailures.upstream);
    expect(await isOwed(task)).toBe(true);
    await begin(task, ownRound);
    await record(task, ownRound, answered(1, 500), 'pending');
    expect(await isOwed(task)).toBe(true);
    await record(task, ownRound, answered(2, 200), 'delivered');
    expect(await isOwed(task)).toBe(false);
  });

  it('is no longer pending once it was abandoned, however that was written', async () => {
    const [answered410, died] = [await endedTask(), await endedTask()];
    for (const task of [answered410, died]) await begin(task, ownRound);
    await record(answered410, ownRound, answered(1, 410), 'gave_up');
    await open().abandonCallback(died, ownRound);
    for (const task of [answered410, died]) expect(await isOwed(task)).toBe(false);
  });

  it.each(['delivered', 'gave_up'] as const)(
    'that was %s is owed again while it is redelivered',
    async (was) => {
      const task = await endedTask();
      await begin(task, ownRound);
      await record(task, ownRound, answered(1, 500), 'pending');
      await record(task, ownRound, answered(2, 410), was);
      const isFailing = async () => (await open().failingCallbacks(100)).includes(task);
      expect([await isOwed(task), await isFailing()]).toEqual([false, false]);

      await begin(task, 'again');
      expect([await isOwed(task), await isFailing()]).toEqual([true, false]);
      await record(task, 'again', answered(3, 500), 'pending');
      expect([await isOwed(task), await isFailing()]).toEqual([true, true]);
      await record(task, 'again', answered(4, 200), 'delivered');
      expect([await isOwed(task), await isFailing()]).toEqual([false, false]);
    },
  );

  it('counts from the end of its task, and from its redelivery if it is redelivered', async () => {
    const counted = () => open().countCallbacks();
    for await (const { id } of open().owing()) {
      await begin(id, ownRound);
      await record(id, ownRound, answered(1, 200), 'delivered');
    }
    const task = await endedTask();
    const { completedAt } = (await open().find(task)) ?? {};
    await begin(task, ownRound);
    const [due, failing] = await counted();
    expect([due, failing]).toEqual([
      { state: 'due', count: 1, since: completedAt },
      { state: 'failing', count: 0 },
    ]);
    await record(task, ownRound, answered(1, 410), 'gave_up');
    await begin(task, 'again');
    const since = (await callbackOf(task))?.since;
    expect(since).toBeGreaterThanOrEqual(completedAt ?? Infinity);
    expect((await counted())[0]).toEqual({ state: 'due', count: 1, since });
    await record(task, 'again', answered(2, 500), 'pending');
    expect((await counted()).slice(0, 2)).toEqual([
      { state: 'due', count: 0 },
      { state: 'failing', count: 1, since },
    ]);
  });

  it('stays delivered through later actions of an operator', async () => {
    const task = await endedTask();
    const other = open();
    expect((await other.look(task))?.callback).toBeUndefined();
    await begin(task, ownRound);
    await record(task, ownRound, answered(1, 200), 'delivered');
    const act = { id: 'act-1', at: 1, by: 'anna', action: 'redeliver', reason: 'r', detail: 'd' };
    expect(await other.step(task, { kind: 'acted' }, act)).toMatchObject({ ok: true });
    expect(await isOwed(task)).toBe(false);
    expect(await stateOf(task)).toBe('delivered');
  });
});

describe('the callbacks that were abandoned', () => {
  const all = async (limit: number): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let page = await open().abandonedCallbacks(limit); page.length > 0;) {
      pages.push(page);
      page = await open().abandonedCallbacks(limit, page.at(-1));
    }
    return pages;
  };

  it('are listed until they are redelivered, however they were abandoned', async () => {
    const before = new Set((await all(10)).flat());
    const listed = async () => (await all(10)).flat().filter((id) => !before.has(id));
    const [answered410, died, delivered] = [await newTask(), await newTask(), await newTask()];
    for (const task of [answered410, died, delivered]) await begin(task, ownRound);
    await record(answered410, ownRound, answered(1, 410), 'gave_up');
    await open().abandonCallback(died, ownRound);
    await record(delivered, ownRound, answered(1, 200), 'delivered');
    expect(await listed()).toEqual([answered410, died]);

    await begin(answered410, 'again');
    expect(await listed()).toEqual([died]);
    await record(answered410, 'again', answered(2, 500), 'gave_up');
    expect(await listed()).toEqual([answered410, died]);
    await begin(died, 'again');
    await record(died, 'again', answered(2, 200), 'delivered');
    expect(await listed()).toEqual([answered410]);
  });

  it('are listed in pages, each once, although they leave the list meanwhile', async () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `task_z_many_${String(n).padStart(5, '0')}`);
    const callback = { state: 'gave_up', target, attempts: [], round: ownRound, begun: 10 } as const;
    await database.db
      .collection<TaskDocument>('tasks')
      .insertMany(ids.map((id) => ({ ...toDocument(firstRecord(id, { callback })), gaveUp: id })));
    const pages = await all(1000);
    expect(pages.flat().filter((id) => id.startsWith('task_z_many'))).toEqual(ids);
    expect(new Set(pages.slice(0, -1).map((page) => page.length))).toEqual(new Set([1000]));

    const [first = ''] = ids;
    await begin(first, 'again');
    expect(await open().abandonedCallbacks(2, first)).toEqual(ids.slice(1, 3));
  });
});

describe('an attempt', () => {
  it('is counted once for each that begins, including the first ones at the same time', async () => {
    const task = await newTask();
    const numbers = await Promise.all(Array.from({ length: 8 }, () => begin(task, ownRound)));
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
  });

  it('that is recorded again is one attempt', async () => {
    const task = await newTask();
    await begin(task, ownRound);
    await record(task, ownRound, answered(1, 500), 'pending');
    await record(task, ownRound, answered(1, 500), 'pending');
    await record(task, ownRound, { at: 2, durationMs: 3, error: 'timeout' }, 'pending');
    expect(await callbackOf(task)).toEqual({
      state: 'pending',
      target,
      round: ownRound,
      begun: 1,
      isFailing: true,
      attempts: [
        { at: 1, durationMs: 1, status: 500 },
        { at: 2, durationMs: 3, error: 'timeout' },
      ],
    });
  });

  it('that was never begun is not recorded', async () => {
    const task = await newTask();
    await record(task, ownRound, answered(1, 200), 'delivered');
    expect(await callbackOf(task)).toBeUndefined();
  });

  it('of a missing task does not begin, and creates no task', async () => {
    expect(await begin('task_gone', ownRound)).toBeUndefined();
    expect(await begin('task_gone', 'again')).toBeUndefined();
    await record('task_gone', ownRound, answered(1, 200), 'delivered');
    expect(await open().find('task_gone')).toBeUndefined();
  });

  it('is one of the newest fifty', async () => {
    const task = await newTask();
    await begin(task, ownRound);
    for (let at = 1; at <= 52; at += 1) await record(task, ownRound, answered(at, 500), 'pending');
    const attempts = (await callbackOf(task))?.attempts ?? [];
    expect([attempts.length, attempts[0]?.at, attempts.at(-1)?.at]).toEqual([50, 3, 52]);
  });
});

describe('a round', () => {
  it('that has delivered begins no attempt, but one on request does, and counts from 1', async () => {
    const task = await newTask();
    await begin(task, ownRound);
    await record(task, ownRound, answered(1, 200), 'delivered');
    expect(await begin(task, ownRound)).toBeUndefined();
    expect(await begin(task, 'first')).toBe(1);
    expect(await stateOf(task)).toBe('pending');
    expect(await begin(task, 'first', 'https://moved.example')).toBe(2);
    expect(await callbackOf(task)).toMatchObject({ target: 'https://moved.example' });
  });

  it('that was replaced begins no attempt, and does not reset the count', async () => {
    const task = await newTask();
    for (const round of [ownRound, 'first', 'second']) await begin(task, round);
    expect(await begin(task, ownRound)).toBeUndefined();
    expect(await begin(task, 'first')).toBeUndefined();
    expect(await begin(task, 'second')).toBe(2);
  });

  it('of the task itself replaces none, even if it had begun nothing', async () => {
    const task = await newTask();
    expect(await begin(task, 'first')).toBe(1);
    expect(await begin(task, ownRound)).toBeUndefined();
    expect(await begin(task, 'first')).toBe(2);
  });

  it('of two that begin at once is replaced, and only one counts from then on', async () => {
    const task = await newTask();
    await begin(task, ownRound);
    await Promise.all(['first', 'second'].map((round) => begin(task, round)));
    const later = await Promise.all(['first', 'second'].map((round) => begin(task, round)));
    expect(later.filter((n) => n === undefined)).toHaveLength(1);
  });

  it('that was replaced is listed with its late response, and decides nothing', async () => {
    const task = await newTask();
    await begin(task, ownRound);
    await begin(task, 'first');
    await record(task, 'first', answered(2, 200), 'delivered');
    const old = { task, round: ownRound, target: 'https://old.example' };
    await open().recordCallback(old, answered(1, 500), 'gave_up');
    await open().abandonCallback(task, ownRound);
    const found = await callbackOf(task);
    expect(found).toMatchObject({ state: 'delivered', target });
    expect(found?.attempts.map(({ at }) => at)).toEqual([2, 1]);
    expect(await open().abandonedCallbacks(10_000)).not.toContain(task);
  });

  it('is abandoned while it is pending, and not after it has delivered', async () => {
    const [lost, delivered] = [await newTask(), await newTask()];
    for (const task of [lost, delivered]) await begin(task, ownRound);
    await record(delivered, ownRound, answered(1, 200), 'delivered');
    for (const task of [lost, delivered]) await open().abandonCallback(task, ownRound);
    expect([await stateOf(lost), await stateOf(delivered)]).toEqual(['gave_up', 'delivered']);
  });

  it('changes nothing about the state of its task', async () => {
    const task = await endedTask();
    const before = await open().find(task);
    await begin(task, ownRound);
    await record(task, ownRound, answered(1, 200), 'delivered');
    const after = await open().find(task);
    expect(after).toEqual({ ...before, callback: after?.callback });
  });
});
