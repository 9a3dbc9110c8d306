import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task, TaskActionRecord } from '../../src/domain/task-record.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import type { TaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';

/** What operators write beside the workflow: each write is guarded by what must not have happened before. */

let database: Awaited<ReturnType<typeof openDatabase>>;
let tasks: TaskStore;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  tasks = createTaskStore(database.db, Date.now);
});
afterAll(() => database.drop());

async function newTask(): Promise<string> {
  const id = `task_${(count += 1)}`;
  const facts = { account: 'a', key: 'k', kind: 'video', model: 'm', hold: 1n } as const;
  await tasks.insert({ id, ...facts, createdAt: 1, deadlineAt: 2 }, 1n);
  return id;
}

async function submitted(upstreamId = 'job-1'): Promise<string> {
  const id = await newTask();
  await tasks.markSubmitted(id, {
    version: 2n,
    channel: 'one',
    credential: 'a',
    upstreamId,
    traceId: 'trace',
  });
  return id;
}

async function read(id: string): Promise<Task> {
  const found = await tasks.find(id);
  if (found === undefined) throw new Error(`${id} is gone`);
  return found;
}

const end = (id: string) =>
  tasks.finish(id, { status: 'failed', version: 50n, charge: 0n, chargeEstimated: false });
const named = { channel: 'two', credential: 'b', upstreamId: 'job-2', version: 9n };
const success = { kind: 'succeeded', items: [{ url: 'https://files.example/a.mp4' }], facts: {} } as const;

describe('the record of an action', () => {
  const record = (id: string, reason = 'due'): TaskActionRecord => ({
    id,
    action: 'fail',
    by: 'anna',
    reason,
    detail: 'done',
    at: 1,
  });

  it('is written once for each id, however many processes write it at once', async () => {
    const id = await newTask();
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => tasks.recordAction(id, record('update-1', `${n}`))),
    );
    expect((await read(id)).actions).toHaveLength(1);
    await tasks.recordAction(id, record('update-2'));
    expect((await read(id)).actions?.map((action) => action.id)).toEqual(['update-1', 'update-2']);
  });

  it('stays readable: the newest hundred are kept', async () => {
    const id = await newTask();
    for (let n = 0; n < 103; n += 1) await tasks.recordAction(id, record(`update-${n}`));
    const kept = (await read(id)).actions?.map((action) => action.id) ?? [];
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([100, 'update-3', 'update-102']);
  });

  it('of a task that is gone makes no task', async () => {
    await tasks.recordAction('task_gone', record('update-1'));
    expect(await tasks.find('task_gone')).toBeUndefined();
  });
});

describe('a deadline', () => {
  it('is moved while the task runs, and not after its end', async () => {
    const id = await submitted();
    await tasks.moveDeadline(id, 5_000);
    expect((await read(id)).deadlineAt).toBe(5_000);
    await end(id);
    await tasks.moveDeadline(id, 9_000);
    expect((await read(id)).deadlineAt).toBe(5_000);
  });
});

describe('a concern about polling', () => {
  it('comes, changes and goes', async () => {
    const id = await submitted();
    await tasks.setConcern(id, 'poll_failing');
    expect((await read(id)).attention).toBe('poll_failing');
    await tasks.setConcern(id, 'overdue');
    expect((await read(id)).attention).toBe('overdue');
    await tasks.setConcern(id, undefined);
    expect(await read(id)).not.toHaveProperty('attention');
  });

  it('neither replaces nor clears a request for a person that is about something else', async () => {
    const id = await newTask();
    await tasks.setAttention(id, 'submit_ambiguous', 5n);
    await tasks.setConcern(id, 'overdue');
    await tasks.setConcern(id, undefined);
    expect((await read(id)).attention).toBe('submit_ambiguous');
  });

  it('does not appear on a task that has ended', async () => {
    const id = await submitted();
    await end(id);
    await tasks.setConcern(id, 'poll_failing');
    expect(await read(id)).not.toHaveProperty('attention');
  });
});

describe('a job that an operator takes back', () => {
  it("is no longer the task's: what a poll of it still reports is not recorded", async () => {
    const id = await submitted();
    expect(await tasks.disownJob(id, 'job-1')).toBe(true);
    expect(await read(id)).not.toHaveProperty('upstreamId');
    const job = { channel: 'one', upstreamId: 'job-1' };
    expect(await tasks.recordOutcome(id, success, { job })).toBe(false);
    expect(await read(id)).not.toHaveProperty('outcome');
  });

  it("may be taken back twice, and not after its end or the task's", async () => {
    const id = await submitted();
    expect([await tasks.disownJob(id, 'job-1'), await tasks.disownJob(id, 'job-1')]).toEqual([true, true]);
    const ended = await submitted();
    await tasks.recordOutcome(ended, success, { job: { channel: 'one', upstreamId: 'job-1' } });
    expect(await tasks.disownJob(ended, 'job-1')).toBe(false);
    const over = await submitted();
    await end(over);
    expect(await tasks.disownJob(over, 'job-1')).toBe(false);
  });
});

describe('a job that an operator names', () => {
  it("is the task's, which is submitted then and asks for nobody", async () => {
    const id = await newTask();
    await tasks.setAttention(id, 'submit_ambiguous', 5n);
    await tasks.ownJob(id, named);
    const task = await read(id);
    expect(task).toMatchObject({ status: 'submitted', channel: 'two', credential: 'b', upstreamId: 'job-2' });
    expect(task).not.toHaveProperty('attention');
    expect(await tasks.recordOutcome(id, success, { job: { channel: 'two', upstreamId: 'job-2' } })).toBe(
      true,
    );
  });

  it('may be one that was taken back before', async () => {
    const id = await submitted();
    await tasks.disownJob(id, 'job-1');
    await tasks.ownJob(id, { ...named, channel: 'one', upstreamId: 'job-1' });
    expect(await tasks.recordOutcome(id, success, { job: { channel: 'one', upstreamId: 'job-1' } })).toBe(
      true,
    );
  });

  it('does not turn a running task back, and is not given to one that has ended', async () => {
    const running = await submitted();
    await tasks.markRunning(running, 3n);
    await tasks.ownJob(running, named);
    expect(await read(running)).toMatchObject({ status: 'running', upstreamId: 'job-2' });
    const over = await submitted();
    await end(over);
    await tasks.ownJob(over, named);
    expect(await read(over)).toMatchObject({ status: 'failed', upstreamId: 'job-1' });
  });

  it('does not lower the version: an older write of the workflow still matches nothing', async () => {
    const id = await newTask();
    await tasks.setAttention(id, 'submit_ambiguous', 20n);
    await tasks.ownJob(id, named);
    await tasks.setAttention(id, 'submit_ambiguous', 19n);
    expect(await read(id)).not.toHaveProperty('attention');
  });
});
