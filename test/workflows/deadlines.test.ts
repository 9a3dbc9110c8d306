import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { signal, both, usePlayedTasks, type PlayedTask } from './played-tasks.ts';
import { asks, later, type Upstream } from './played-upstream.ts';

const tasks = usePlayedTasks();
const expired = { status: 'failed', code: 'task_expired' };
const soon = () => Date.now() + 5_000;
const waits = ['submit one', 'post one', 'wait job-1'];

/**
 * Returns a task that has made these calls and still has at least half of the time until its deadline left. If a busy
 * machine took too long for that, starts another task with more time.
 */
async function atWork(
  calls: readonly string[],
  change: Parameters<typeof tasks.start>[0] = {},
  leastMs = 5_000,
): Promise<PlayedTask> {
  for (let ms = leastMs; ; ms *= 2) {
    const deadlineAt = Date.now() + ms;
    const task = await tasks.start({ ...change, deadlineAt });
    while (task.calls().length < calls.length && Date.now() < deadlineAt) await delay(20);
    if (Date.now() < deadlineAt - ms / 2) {
      expect(task.calls().slice(0, calls.length)).toEqual(calls);
      return task;
    }
    await task.handle.terminate('too late for what it tries');
  }
}

/**
 * The worker of this task has died during a submission, and no other worker serves the task's queue. The task runs
 * while the other tests of this file do.
 */
let abandoned: PlayedTask;
beforeAll(async () => {
  const candidate = { channel: 'unserved', credential: 'a' };
  const sending = {
    ...candidate,
    n: 1,
    state: 'sending',
    owner: 'dead',
    marker: 'm',
    startedAt: Date.now(),
  } as const;
  const change = { deadlineAt: soon(), candidates: [candidate] };
  tasks.upstream.configured = ['unserved'];
  const state = { at: 'sending', n: 1, round: 1, left: [candidate], full: [] } as const;
  abandoned = await tasks.start(change, { state, attempts: [sending] });
});

describe('at its deadline', () => {
  it.each<[string, Partial<Upstream>, readonly string[], readonly string[]]>([
    ['a submission in backoff ends unsent', { gate: later }, ['submit one'], ['finish']],
    [
      'a pause between two rounds ends',
      { submit: async () => ({ kind: 'not_accepted' }) },
      ['submit one', 'post one'],
      ['finish'],
    ],
    [
      'a lost submission that waits for an operator is searched for once more',
      { submit: async () => ({ kind: 'lost' }) },
      ['submit one', 'post one', 'find'],
      ['find', 'finish'],
    ],
    [
      'a job between two polls is asked about once more, and cancelled',
      { wait: later },
      waits,
      ['last question', 'cancel', 'finish'],
    ],
    [
      'a job whose poll is with a worker is asked about once more, and cancelled',
      { wait: asks },
      waits,
      ['last question', 'cancel', 'finish'],
    ],
    [
      'a job whose polling broke is asked about once more, and cancelled',
      { wait: async () => ({ kind: 'broken' }) },
      waits,
      ['last question', 'cancel', 'finish'],
    ],
    [
      'a charge that nobody has accepted is not charged',
      { wait: async () => ({ kind: 'succeeded' }), reviewed: '9000000' },
      [...waits, 'finish'],
      ['finish'],
    ],
  ])('%s', async (_, change, before, after) => {
    Object.assign(tasks.upstream, change);
    const task = await atWork(before);
    expect(await task.end()).toEqual(expired);
    expect(task.calls()).toEqual([...before, ...after]);
    await expect.poll(() => task.attribute('NeedsAttention')).toBeUndefined();
    expect(await task.failedWorkflowTasks()).toEqual([]);
  });

  it('a search for a lost job becomes the last one, and does not last for minutes', async () => {
    tasks.upstream.submit = async () => ({ kind: 'lost' });
    tasks.upstream.find = async () => undefined;
    const task = await atWork(['submit one', 'post one', 'find']);
    expect(await task.end()).toEqual(expired);
    const searches = (await task.events()).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'findLostJob' ? [scheduled.retryPolicy?.maximumAttempts] : [],
    );
    expect(searches.at(-1)).toBe(1);
    expect(task.record().attempts).toMatchObject([{ state: 'abandoned' }]);
  });

  it('a submission in flight gets its response first', async () => {
    const answer = signal();
    tasks.upstream.submit = async () => {
      await answer.given;
      return { kind: 'accepted', id: 'job-1' };
    };
    const task = await atWork(['submit one', 'post one']);
    await expect.poll(() => task.record().state).toMatchObject({ stop: 'expire' });
    answer.give();
    expect(await task.end()).toEqual(expired);
    expect(task.calls()).toEqual(['submit one', 'post one', 'last question', 'cancel', 'finish']);
  });

  it('a job continues while the database clock has jumped, and its workflow checks again later', async () => {
    const task = await atWork(waits);
    tasks.upstream.isTimeRight = false;
    const timerSeconds = async () =>
      (await task.events()).map(({ timerStartedEventAttributes: timer }) =>
        Number(timer?.startToFireTimeout?.seconds ?? 0),
      );
    await expect.poll(timerSeconds).toContain(300);
    expect(task.record().deadlineAt).toBeLessThanOrEqual(Date.now());
    expect(task.record()).toMatchObject({ state: { at: 'waiting' } });
    expect(task.calls()).toEqual(waits);
    await task.act('fail');
    expect(await task.end()).toMatchObject({ code: 'internal_error' });
  });

  it('a result is used, although all polls for it have failed on our side', async () => {
    let failures = 4;
    tasks.upstream.status = async () => {
      if ((failures -= 1) >= 0) throw new Error('MongoServerSelectionError');
      return { kind: 'succeeded' };
    };
    const task = await atWork(waits);
    expect(await task.end()).toEqual({ status: 'succeeded', charge: '700000' });
    expect(task.calls()).not.toContain('cancel');
  });

  it('a lost job is used, although its last search has failed on our side', async () => {
    tasks.upstream.submit = async () => ({ kind: 'lost' });
    tasks.upstream.status = async () => ({ kind: 'succeeded' });
    const task = await atWork(['submit one', 'post one', 'find']);
    let failures = 1;
    tasks.upstream.find = async (id) => {
      if (id !== task.id) return undefined;
      if ((failures -= 1) >= 0) throw new Error('MongoServerSelectionError');
      return 'job-9';
    };
    expect(await task.end()).toEqual({ status: 'succeeded', charge: '700000' });
  });

  it('an existing result is used', async () => {
    tasks.upstream.status = async () => ({ kind: 'succeeded' });
    const task = await atWork(waits);
    expect(await task.end()).toEqual({ status: 'succeeded', charge: '700000' });
  });

  it('a task in a queue without a worker ends, and at once if an operator fails it', async () => {
    tasks.upstream.configured = ['unserved'];
    const candidates = [{ channel: 'unserved', credential: 'a' }];
    const [unserved, fails] = await Promise.all([
      tasks.start({ deadlineAt: soon(), candidates }),
      tasks.start({ candidates }),
    ]);
    await fails.act('fail');
    expect(await fails.end()).toMatchObject({ code: 'internal_error' });
    expect(await unserved.end()).toEqual(expired);
  });

  it('a charge that was being written no longer asks an operator', async () => {
    const mayWrite = signal();
    tasks.upstream.wait = async () => {
      await mayWrite.given;
      return { kind: 'broken' };
    };
    const task = await atWork(waits);
    // The outcome has been decided. Later requests to stop the task have no effect until an operator is asked.
    tasks.upstream.reviewed = '9000000';
    tasks.records.put(task.id, { state: { at: 'ending', ending: { kind: 'succeeded' } } });
    await expect.poll(() => Date.now() > task.record().deadlineAt).toBe(true);
    mayWrite.give();
    expect(await task.end()).toEqual(expired);
  });
});

describe('a deadline that was moved', () => {
  it('ends nothing at the first time, but the task at the second', async () => {
    const task = await atWork(waits, {}, 15_000);
    await task.act('extend', { seconds: 60 });
    const timers = async () =>
      (await task.events()).filter((event) => Boolean(event.timerStartedEventAttributes));
    await expect.poll(async () => (await timers()).length).toBe(2);
    expect(task.calls()).not.toContain('finish');
    await task.act('fail');
    expect(await task.end()).toMatchObject({ code: 'internal_error' });
  });

  it('while it fired ends nothing', async () => {
    const task = await atWork(waits);
    tasks.records.put(task.id, { deadlineAt: Date.now() + 3_600_000 });
    const timers = async () =>
      (await task.events()).filter((event) => Boolean(event.timerStartedEventAttributes));
    await expect.poll(async () => (await timers()).length).toBe(2);
    expect(task.record()).toMatchObject({ state: { at: 'waiting' } });
    await task.act('fail');
  });

  it('takes effect even while the task is stopping for the former one', async () => {
    const answer = signal();
    tasks.upstream.submit = async () => {
      await answer.given;
      return { kind: 'accepted', id: 'job-1' };
    };
    const task = await atWork(['submit one', 'post one'], { candidates: both });
    await expect.poll(() => task.record().state).toMatchObject({ stop: 'expire' });
    await task.act('extend', { seconds: 3_600 });
    answer.give();
    await task.called('wait job-1');
    expect(task.calls()).not.toContain('cancel');
    await task.act('fail');
    expect(await task.end()).toMatchObject({ code: 'internal_error' });
  });
});

it('a submission that died with its worker, in a queue without a worker, does not block its task forever', async () => {
  expect(await abandoned.end()).toEqual(expired);
  expect(abandoned.record().attempts).toMatchObject([{ state: 'abandoned' }]);
  expect(abandoned.calls()).toEqual(['find', 'finish']);
});
