import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTaskStore } from '../../src/store/tasks.ts';
import type { Task, TaskOutcome } from '../../src/domain/task-record.ts';
import type { TaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';

/** Every write of the projection is guarded: an older or a late one matches nothing. */

let database: Awaited<ReturnType<typeof openDatabase>>;
let tasks: TaskStore;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  tasks = createTaskStore(database.db, Date.now);
});
afterAll(() => database.drop());

const unstarted = '00000000000001-first';

async function newTask(change: { unstarted?: string } = {}): Promise<string> {
  const id = `task_${(count += 1)}`;
  const facts = { account: 'a', key: 'k', kind: 'video', model: 'm', hold: 1n } as const;
  await tasks.insert({ id, ...facts, createdAt: 1, deadlineAt: 2, ...change }, 1n);
  return id;
}

async function read(id: string): Promise<Task> {
  const found = await tasks.find(id);
  if (found === undefined) throw new Error(`${id} is gone`);
  return found;
}

const submit = (id: string, version: bigint, upstreamId = 'up') =>
  tasks.markSubmitted(id, { version, channel: 'ark', credential: 'a', upstreamId, traceId: '' });
const end = (id: string, status: 'succeeded' | 'failed', version = 50n) =>
  tasks.finish(id, { status, version, charge: status === 'succeeded' ? 7n : 0n, chargeEstimated: false });

const failure: TaskOutcome = { kind: 'failed', code: 'gone', message: 'The upstream failed.' };
const success = (url: string): TaskOutcome => ({ kind: 'succeeded', items: [{ url }], facts: {} });

describe('a creation', () => {
  it('is not abandoned by a try that another one has taken over from', async () => {
    const id = await newTask({ unstarted });
    expect(await tasks.takeOver(id, '00000000000002-second')).toBe(true);
    expect(await tasks.markAbandoned(id, unstarted)).toBe(false);
    const document = await database.db.collection<{ _id: string }>('tasks').findOne({ _id: id });
    expect(document).toMatchObject({ status: 'pending' });
    expect(document).not.toHaveProperty('given_up');
    expect(await tasks.markAbandoned(id, '00000000000002-second')).toBe(true);
  });

  it('is neither abandoned nor taken over once the workflow has claimed the task', async () => {
    const id = await newTask({ unstarted });
    expect(await tasks.claim(id, 5n)).toMatchObject({ unstarted });
    expect(await tasks.markAbandoned(id, unstarted)).toBe(false);
    expect(await tasks.takeOver(id, '00000000000002-second')).toBe(false);
    expect(await read(id)).toMatchObject({ hold: 5n });
  });

  it('that was abandoned is neither claimed nor taken over, and is removed', async () => {
    const id = await newTask({ unstarted });
    expect(await tasks.markAbandoned(id, unstarted)).toBe(true);
    expect(await tasks.takeOver(id, '00000000000002-second')).toBe(false);
    expect(await tasks.claim(id, 5n)).toBeUndefined();
    await tasks.removeAbandoned(id);
    expect(await tasks.find(id)).toBeUndefined();
  });

  it('that was not abandoned, or was sent, is not removed', async () => {
    const id = await newTask({ unstarted });
    await tasks.removeAbandoned(id);
    await submit(id, 5n);
    expect(await read(id)).toMatchObject({ status: 'submitted' });
  });
});

describe('an older write', () => {
  it('shows no task as submitted', async () => {
    const id = await newTask();
    await tasks.setAttention(id, 'poll_failed', 10n);
    await submit(id, 9n);
    expect(await read(id)).toMatchObject({ status: 'pending', attention: 'poll_failed', version: 10n });
    await submit(id, 11n);
    expect(await read(id)).toMatchObject({ status: 'submitted', upstreamId: 'up', version: 11n });
  });

  it('shows no task as running', async () => {
    const id = await newTask();
    await submit(id, 10n);
    await tasks.markRunning(id, 9n);
    expect((await read(id)).status).toBe('submitted');
    await tasks.markRunning(id, 10n);
    expect((await read(id)).status).toBe('running');
  });

  it('neither asks for a person nor withdraws the question', async () => {
    const id = await newTask();
    await tasks.setAttention(id, 'submit_ambiguous', 10n);
    await tasks.setAttention(id, 'charge_review', 9n);
    await tasks.setAttention(id, undefined, 9n);
    expect(await read(id)).toMatchObject({ attention: 'submit_ambiguous', version: 10n });
  });
});

describe('a submission whose answer was lost', () => {
  const where = { channel: 'ark', credential: 'a' };

  it('is shown where its job may be', async () => {
    const id = await newTask();
    await tasks.showLost(id, where, 10n);
    await tasks.setAttention(id, 'submit_ambiguous', 10n);
    expect(await read(id)).toMatchObject({ ...where, attention: 'submit_ambiguous', version: 10n });
    await tasks.setAttention(id, undefined, 11n);
    expect(await read(id)).toMatchObject(where);
  });

  it('changes nothing about a job that is known, or after a newer write', async () => {
    const id = await newTask();
    await submit(id, 10n);
    await tasks.showLost(id, { channel: 'kling', credential: 'b' }, 11n);
    expect(await read(id)).toMatchObject({ ...where, upstreamId: 'up' });
    const other = await newTask();
    await tasks.setAttention(other, undefined, 12n);
    await tasks.showLost(other, where, 11n);
    expect((await read(other)).channel).toBeUndefined();
  });
});

describe('a late write', () => {
  it('does not take a task back to an earlier status', async () => {
    const id = await newTask();
    await submit(id, 10n);
    await tasks.markRunning(id, 11n);
    await submit(id, 12n, 'another');
    expect(await read(id)).toMatchObject({ status: 'running', upstreamId: 'up' });
    await end(id, 'failed', 13n);
    await tasks.markRunning(id, 14n);
    await submit(id, 15n, 'another');
    expect(await read(id)).toMatchObject({ status: 'failed', upstreamId: 'up', version: 13n });
  });

  it('changes neither progress nor outcome of a task that has ended', async () => {
    const id = await newTask();
    await tasks.recordProgress(id, { progress: 40 });
    await end(id, 'failed');
    await tasks.recordProgress(id, { progress: 90 });
    await tasks.recordOutcome(id, success('https://late.example/a.mp4'));
    const ended = await read(id);
    expect(ended.progress).toBe(40);
    expect(ended).not.toHaveProperty('outcome');
  });
});

describe('of the upstream’s outcomes', () => {
  it('a success replaces a failure, and nothing replaces a success', async () => {
    const id = await newTask();
    await tasks.recordOutcome(id, failure);
    await tasks.recordOutcome(id, success('https://first.example/a.mp4'));
    await tasks.recordOutcome(id, failure);
    await tasks.recordOutcome(id, success('https://second.example/a.mp4'));
    expect((await read(id)).outcome).toEqual(success('https://first.example/a.mp4'));
  });

  it('the first failure counts', async () => {
    const id = await newTask();
    await tasks.recordOutcome(id, failure);
    await tasks.recordOutcome(id, { ...failure, code: 'second' });
    expect((await read(id)).outcome).toEqual(failure);
  });
});

describe('a job that was replaced', () => {
  const replace = (id: string, version: bigint, upstreamId = 'second') =>
    tasks.replaceJob(id, { version, channel: 'two', credential: 'b', upstreamId, traceId: 't2' });
  const first = { channel: 'ark', upstreamId: 'up' };
  const second = { channel: 'two', upstreamId: 'second' };

  it('leaves nothing behind but the status, which only moves forward', async () => {
    const id = await newTask();
    await submit(id, 5n);
    await tasks.markRunning(id, 5n);
    await tasks.recordProgress(id, { progress: 40, queuePosition: 2 });
    await tasks.recordOutcome(id, success('https://late.example/a.mp4'), { job: first });
    await replace(id, 6n);
    const found = await read(id);
    expect(found).toMatchObject({ status: 'running', channel: 'two', credential: 'b', upstreamId: 'second' });
    for (const name of ['outcome', 'progress', 'queuePosition']) expect(found).not.toHaveProperty(name);
  });

  it('has no outcome any more, and the other one has', async () => {
    const id = await newTask();
    await submit(id, 5n);
    await replace(id, 6n);
    await tasks.recordOutcome(id, success('https://late.example/a.mp4'), { job: first });
    expect(await read(id)).not.toHaveProperty('outcome');
    await tasks.recordOutcome(id, success('https://second.example/a.mp4'), { job: second });
    await replace(id, 7n);
    expect((await read(id)).outcome).toEqual(success('https://second.example/a.mp4'));
  });

  it('is not replaced by an older write, nor after the end', async () => {
    const id = await newTask();
    await submit(id, 5n);
    await replace(id, 5n);
    expect(await read(id)).toMatchObject({ upstreamId: 'up' });
    await end(id, 'failed');
    await replace(id, 60n);
    expect(await read(id)).toMatchObject({ upstreamId: 'up' });
  });

  it('does not matter to a projection that was restored and shows no job', async () => {
    const id = await newTask();
    await tasks.recordOutcome(id, failure, { job: first });
    expect((await read(id)).outcome).toEqual(failure);
  });
});

describe('an end', () => {
  it('is written once; who comes later learns what the task is', async () => {
    const id = await newTask();
    expect(await end(id, 'succeeded')).toBe('succeeded');
    expect(await end(id, 'failed', 60n)).toBe('succeeded');
    expect(await read(id)).toMatchObject({ status: 'succeeded', charge: 7n, version: 50n });
    expect(await end('task_unknown', 'failed')).toBeUndefined();
  });

  it('counts whatever its version, and leaves the newest', async () => {
    const [older, newer] = [await newTask(), await newTask()];
    for (const id of [older, newer]) await tasks.setAttention(id, 'poll_failed', 80n);
    await end(older, 'failed', 70n);
    await end(newer, 'failed', 90n);
    expect(await read(older)).toMatchObject({ status: 'failed', version: 80n });
    expect(await read(newer)).toMatchObject({ status: 'failed', version: 90n });
    expect(await read(newer)).not.toHaveProperty('attention');
  });
});
