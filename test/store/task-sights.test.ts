import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskFailures } from '../../src/task/failures.ts';
import type { Task } from '../../src/task/record.ts';
import { createTaskStore, type TaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { firstCandidate, firstRecord, succeededWith, taskDriver } from '../support/task-records.ts';
import { testSealing } from '../support/sealing.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let tasks: TaskStore;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  tasks = createTaskStore(database.db, Date.now, testSealing);
});
afterAll(() => database.drop());

async function newTask(): Promise<string> {
  const id = `task_${(count += 1)}`;
  await tasks.insert(firstRecord(id));
  return id;
}

async function submitted(): Promise<string> {
  const id = await newTask();
  await drive().accept(id);
  return id;
}

async function read(id: string): Promise<Task> {
  const found = await tasks.find(id);
  if (found === undefined) throw new Error(`${id} is gone`);
  return found;
}

const drive = (): ReturnType<typeof taskDriver> => taskDriver(tasks);
const fail = (id: string) => drive().fail(id, taskFailures.upstream);

describe('running', () => {
  it('is shown for a submitted task, but for none that has ended', async () => {
    const [pending, running, ended] = [await newTask(), await submitted(), await submitted()];
    await fail(ended);
    for (const id of [pending, running, ended]) await tasks.step(id, { kind: 'rendering', n: 1 });
    expect((await read(pending)).status).toBe('pending');
    expect((await read(running)).status).toBe('running');
    expect((await read(ended)).status).toBe('failed');
  });

  it('is not shown for a submitted task whose job an operator is asked about', async () => {
    const id = await submitted();
    await drive().step(id, { kind: 'broken', n: 1, code: 'upstream_not_found' });
    await tasks.step(id, { kind: 'rendering', n: 1 });
    expect(await read(id)).toMatchObject({ status: 'submitted', state: { at: 'broken' } });
  });

  it('is not withdrawn by a job that replaces the running one', async () => {
    const id = await newTask();
    await drive().ask(id);
    await drive().step(id, { kind: 'adopted', operation: { id: `first-of-${id}` } });
    await tasks.step(id, { kind: 'rendering', n: 1 });
    await drive().step(id, { kind: 'undone' });
    await drive().step(id, { kind: 'adopted', operation: { id: `second-of-${id}` } });
    expect(await read(id)).toMatchObject({ status: 'running', upstreamId: `second-of-${id}` });
  });
});

describe('progress', () => {
  it('is shown while the task waits for its job, and changes neither before nor after', async () => {
    const id = await newTask();
    await tasks.recordProgress(id, { progress: 10 });
    expect(await read(id)).not.toHaveProperty('progress');
    await drive().accept(id);
    await tasks.recordProgress(id, { progress: 40, queuePosition: 2 });
    await tasks.recordProgress(id, { progress: 50 });
    expect(await read(id)).toMatchObject({ progress: 50, queuePosition: 2 });
    await drive().polled(id, succeededWith('https://files.example/a.mp4'));
    await tasks.recordProgress(id, { progress: 90 });
    expect((await read(id)).progress).toBe(50);
  });

  it('of a job that was withdrawn or replaced is not that of the next one', async () => {
    const id = await newTask();
    await drive().ask(id);
    await drive().step(id, { kind: 'adopted', operation: { id: `job-of-${id}` } });
    await tasks.recordProgress(id, { progress: 40, queuePosition: 2 });
    await drive().step(id, { kind: 'undone' });
    await tasks.recordProgress(id, { progress: 60 });
    for (const name of ['progress', 'queuePosition']) expect(await read(id)).not.toHaveProperty(name);
  });

  it('does not change `rev`, so a step that is decided meanwhile is still written', async () => {
    const id = await submitted();
    const { rev } = await read(id);
    await tasks.recordProgress(id, { progress: 40 });
    expect((await read(id)).rev).toBe(rev);
  });
});

describe('what a task waits for', () => {
  it('changes over time, and each change is written once', async () => {
    const id = await newTask();
    await tasks.setWait(id, { cause: 'slot', ahead: 3 });
    const first = await read(id);
    expect(first.wait).toMatchObject({ cause: 'slot', ahead: 3 });
    const later = createTaskStore(database.db, () => first.updatedAt + 5_000, testSealing);
    await later.setWait(id, { cause: 'slot', ahead: 3, until: 7 });
    expect(await read(id)).toEqual(first);
    await later.setWait(id, { cause: 'rate' });
    const second = await read(id);
    expect(second.wait).toEqual({ cause: 'rate', since: first.updatedAt + 5_000 });
    expect(second.waited?.at(-1)).toMatchObject({ cause: 'slot', ahead: 3, ended: first.updatedAt + 5_000 });
    expect(second.updatedAt).toBe(first.updatedAt + 5_000);
  });

  it('does not change `rev`, so the plan of an operator’s action stays valid', async () => {
    const id = await newTask();
    const { rev } = await read(id);
    await tasks.setWait(id, { cause: 'slot' });
    expect((await read(id)).rev).toBe(rev);
  });

  it('is kept by a process that remembers the record without it', async () => {
    const id = await newTask();
    await tasks.look(id);
    const other = createTaskStore(database.db, () => Date.now() - 60_000, testSealing);
    await other.setWait(id, { cause: 'slot' });
    await drive().accept(id);
    const { wait, waited } = await read(id);
    expect(wait?.cause).toBe('job');
    expect(waited?.at(-1)).toMatchObject({ cause: 'slot' });
  });

  it('names the tasks that may be tried when an upstream recovers', async () => {
    const place = { channel: 'down', credential: 'a' };
    const [circuit, slot, elsewhere, lost] = [
      await newTask(),
      await newTask(),
      await newTask(),
      await newTask(),
    ];
    await drive().lose(lost);
    await tasks.step(lost, { kind: 'asked' });
    await tasks.step(lost, { kind: 'resubmitted' });
    for (const id of [circuit, lost]) await tasks.setWait(id, { cause: 'circuit', ...place });
    await tasks.setWait(slot, { cause: 'slot', ...place });
    await tasks.setWait(elsewhere, { cause: 'upstream', ...place, credential: 'b' });
    const found = await tasks.waitingFor(place, 10);
    expect(Object.fromEntries(found.map(({ id, wasLost }) => [id, wasLost]))).toEqual({
      [circuit]: false,
      [lost]: true,
    });
    expect(await tasks.waitingFor({ ...place, model: 'none' }, 10)).toEqual([]);
    const { model, wait } = await read(circuit);
    const counted = (await tasks.countBehind()).filter(({ channel }) => channel === 'down');
    expect(counted.toSorted((a, b) => a.credential.localeCompare(b.credential))).toEqual([
      { ...place, model, count: 2, since: wait?.since },
      { ...place, credential: 'b', model, count: 1, since: expect.any(Number) },
    ]);

    await tasks.setWait(circuit, { cause: 'slot', ...place });
    await tasks.step(lost, { kind: 'wanted', stop: 'cancel' });
    expect(await tasks.waitingFor(place, 10)).toEqual([]);
  });

  it('is updated for the same wait if the time of the next try moves by more than two seconds', async () => {
    const id = await newTask();
    const place = { channel: 'one', credential: 'a' };
    await tasks.setWait(id, { cause: 'rate', ...place, until: 5_000, ahead: 9 });
    const { wait, waited } = await read(id);
    const since = wait?.since;
    await tasks.setWait(id, { cause: 'rate', ...place, until: 6_000, ahead: 9 });
    expect((await read(id)).wait).toMatchObject({ until: 5_000, ahead: 9 });
    await tasks.setWait(id, { cause: 'rate', ...place, until: 60_000, ahead: 4 });
    expect((await read(id)).wait).toEqual({ cause: 'rate', ...place, until: 60_000, ahead: 4, since });
    expect((await read(id)).waited).toEqual(waited);
  });

  it('is not shown for a task that has a job or has ended', async () => {
    const [accepted, ended] = [await submitted(), await newTask()];
    await fail(ended);
    for (const id of [accepted, ended]) {
      const before = await read(id);
      await tasks.setWait(id, { cause: 'upstream' });
      expect(await read(id)).toEqual(before);
    }
  });
});

describe('a concern', () => {
  it('comes, changes and goes', async () => {
    const id = await submitted();
    expect(await tasks.setConcern(id, 'poll_failing')).toBe(true);
    expect(await read(id)).toMatchObject({ concern: 'poll_failing', attention: 'poll_failing' });
    expect(await tasks.setConcern(id, 'overdue')).toBe(true);
    expect((await read(id)).attention).toBe('overdue');
    expect(await tasks.withdrawConcern(id, 'poll_failing')).toBe(false);
    expect(await read(id)).toMatchObject({ concern: 'overdue', attention: 'overdue' });
    expect(await tasks.withdrawConcern(id, 'overdue')).toBe(true);
    for (const name of ['concern', 'attention']) expect(await read(id)).not.toHaveProperty(name);
  });

  it('of a poll does not replace one that a poll cannot know', async () => {
    const id = await submitted();
    for (const concern of ['channel_gone', 'workflow_failing'] as const) {
      expect(await tasks.setConcern(id, concern)).toBe(true);
      expect(await tasks.setConcern(id, 'overdue')).toBe(false);
      expect(await tasks.setConcern(id, 'poll_failing')).toBe(false);
      expect((await read(id)).attention).toBe(concern);
    }
    expect(await tasks.withdrawConcern(id, 'workflow_failing')).toBe(true);
    expect(await tasks.setConcern(id, 'overdue')).toBe(true);
  });

  it('neither replaces nor clears what the state itself requires', async () => {
    const [lost, broken, review] = [await newTask(), await submitted(), await submitted()];
    await drive().ask(lost);
    await drive().step(broken, { kind: 'broken', n: 1, code: 'c' });
    await drive().polled(review, succeededWith('https://files.example/a.mp4'));
    await drive().step(review, { kind: 'reviewed', charge: '9', why: 'above_hold' });
    for (const [id, attention] of [
      [lost, 'submit_ambiguous'],
      [broken, 'poll_failed'],
      [review, 'charge_review'],
    ] as const) {
      expect(await tasks.setConcern(id, 'channel_gone')).toBe(false);
      expect(await tasks.withdrawConcern(id, 'channel_gone')).toBe(false);
      expect((await read(id)).attention).toBe(attention);
    }
  });

  it('is shown while a lost job is searched for, until an operator is asked', async () => {
    const id = await newTask();
    await drive().lose(id);
    expect(await tasks.setConcern(id, 'channel_gone')).toBe(true);
    expect(await read(id)).toMatchObject({ ...firstCandidate, attention: 'channel_gone' });
    await drive().step(id, { kind: 'asked' });
    expect((await read(id)).attention).toBe('submit_ambiguous');
  });

  it('does not appear on a task that has ended, except that a result was not delivered', async () => {
    const [failed, succeeded] = [await submitted(), await submitted()];
    await fail(failed);
    await drive().succeed(succeeded, succeededWith('https://files.example/a.mp4'));
    for (const id of [failed, succeeded]) {
      expect(await tasks.setConcern(id, 'poll_failing')).toBe(false);
      expect(await read(id)).not.toHaveProperty('attention');
    }
    expect(await tasks.setConcern(failed, 'not_delivered')).toBe(false);
    expect(await tasks.setConcern(succeeded, 'not_delivered')).toBe(true);
    expect((await read(succeeded)).attention).toBe('not_delivered');
  });

  it('of a missing task creates no task', async () => {
    expect(await tasks.setConcern('task_gone', 'overdue')).toBe(false);
    expect(await tasks.find('task_gone')).toBeUndefined();
  });
});

describe('the location of a result’s files', () => {
  it('changes after a success, and is not set after a failure', async () => {
    const [succeeded, failed] = [await newTask(), await newTask()];
    await drive().succeed(succeeded, succeededWith('https://first.example/a.mp4'));
    const outcome = { kind: 'failed', code: 'gone', message: 'm' } as const;
    await drive().fail(failed, taskFailures.upstream, outcome);
    for (const id of [succeeded, failed])
      await tasks.replaceItems(id, [{ url: 'https://copy.example/a.mp4' }]);
    expect((await read(succeeded)).outcome).toEqual(succeededWith('https://copy.example/a.mp4'));
    expect((await read(failed)).outcome).toEqual(outcome);
  });
});
