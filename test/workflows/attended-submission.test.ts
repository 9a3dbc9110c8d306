import { readFileSync } from 'node:fs';
import { CancelledFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { concernSignal } from '../../workflows/messages.ts';
import { both, signal, usePlayedTasks, type PlayedTask } from './played-tasks.ts';
import { asks, forGood, later, withHeartbeats, type SubmitAnswer } from './played-upstream.ts';

const tasks = usePlayedTasks();
const succeeded = { status: 'succeeded', charge: '700000' };
const bytesMax = 6 * 1024;
const triesMax = 6;

async function waiting(change: Parameters<typeof tasks.start>[0] = {}): Promise<PlayedTask> {
  const task = await tasks.start(change);
  await task.called('wait job-1');
  return task;
}

describe('what a task costs its server', () => {
  it.each([
    [false, 18],
    [true, 20],
  ])('with a callback: %s, is at most %i events, and less than 6 KB', async (hasCallback, eventsMax) => {
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    const reported = hasCallback ? ['first callback'] : [];
    const calls = ['submit one', 'post one', 'wait job-1', 'finish', ...reported];
    // If the machine freezes during a task, Temporal repeats some of the steps, so that task costs more. The test
    // therefore passes if any of several tasks stays within the limits.
    const cost = async () => {
      const task = await tasks.start({ hasCallback, candidates: both });
      expect(await task.end()).toEqual(succeeded);
      const { historySize = 0 } = await task.handle.describe();
      return { calls: task.calls(), events: (await task.events()).length, historySize };
    };
    let measured = await cost();
    const isWithin = () =>
      measured.calls.length <= calls.length &&
      measured.events <= eventsMax &&
      measured.historySize <= bytesMax;
    for (let tries = 1; tries < triesMax && !isWithin(); tries += 1) measured = await cost();
    expect(measured.calls).toEqual(calls);
    expect(measured.events).toBeLessThanOrEqual(eventsMax);
    expect(measured.historySize).toBeLessThanOrEqual(bytesMax);
  });

  it('changes at most five fields in place', () => {
    const fieldsOf = (file: string, name: string): string[] => {
      const source = readFileSync(new URL(`../../workflows/${file}`, import.meta.url), 'utf8');
      const body = new RegExp(`interface ${name}[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)?.[1] ?? '';
      const fields = [...body.matchAll(/^ {2}(readonly )?(\w+)\??:/gm)];
      return fields.flatMap(([, readonly, field]) => (readonly === undefined ? [field ?? ''] : []));
    };
    expect(fieldsOf('task-run.ts', 'TaskRun')).toEqual(['lastLocal', 'view', 'work', 'shown', 'notice']);
  });
});

describe('a submission', () => {
  it.each(['one', 'two'])('shows operators where its job is: %s', async (channel) => {
    tasks.upstream.submit = async ({ candidate }) =>
      candidate.channel === channel ? { kind: 'accepted', id: 'job-1' } : { kind: 'not_accepted' };
    const task = await waiting({ candidates: both });
    await task.act('retry_now');
    expect(await task.details()).toContain(`Waiting for ${channel}.`);
    const shown = async () => (await task.attribute('MediaChannel')) ?? ['one'];
    await expect.poll(shown).toEqual([channel]);
  });

  it('that does not wait for its job leaves it to a poll', async () => {
    const cancelled = signal();
    tasks.upstream.submit = async () => {
      await cancelled.given;
      return { kind: 'accepted', id: 'job-1' };
    };
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    const task = await tasks.start();
    await task.called('post one');
    const refused = task.cancel();
    await expect.poll(() => task.record().state).toMatchObject({ stop: 'cancel' });
    cancelled.give();
    expect(await refused).toMatchObject({ cancelled: false });
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls()).toEqual(['submit one', 'post one', 'cancel', 'wait job-1', 'finish']);
  });

  it('that failed permanently while its request was in flight is lost, searched for, and waited for if it is found', async () => {
    tasks.upstream.submit = forGood;
    tasks.upstream.find = async () => 'job-9';
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    const task = await tasks.start();
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls()).toEqual(['submit one', 'post one', 'find', 'wait job-9', 'finish']);
  });

  it('that failed permanently before its request was sent starts again, and never in a tight loop', async () => {
    tasks.upstream.gate = forGood;
    const task = await tasks.start();
    await task.called('submit one', 3);
    tasks.upstream.gate = async () => undefined;
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    expect(await task.end()).toEqual(succeeded);
    const pauses = (await task.events()).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? [Number(timer.startToFireTimeout?.seconds)] : [],
    );
    // The first timer is for the deadline, so skip it.
    expect(pauses.slice(1, 4)).toEqual([1, 2, 4]);
    expect(task.calls().filter((call) => call === 'post one')).toHaveLength(1);
  });

  it('tries the channels in turn, and pauses on the server between rounds, longer each time', async () => {
    tasks.upstream.submit = async () => ({ kind: 'not_accepted' });
    const task = await tasks.start({ candidates: both });
    await task.called('post two', 2);
    await task.reaches('pausing');
    await expect.poll(() => task.details()).toContain('(round 2)');
    const pauses = (await task.events()).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? [Number(timer.startToFireTimeout?.seconds)] : [],
    );
    expect(pauses.length).toBeLessThanOrEqual(3);
    const summaries = (await task.events()).map(({ userMetadata }) =>
      Buffer.from(userMetadata?.summary?.data ?? []).toString(),
    );
    const first = '"Waits: No channel in the plan accepts the task at the moment (round 1). ';
    expect(summaries).toContainEqual(expect.stringContaining(first));
    expect(pauses[1]).toBeLessThanOrEqual(5);
    expect((await task.events()).length).toBeLessThan(60);
    expect(task.record().attempts).toHaveLength(2);
    expect((await task.did('retry_now')).task).toMatch(/^The planned channels are retried|nothing to wake/);
    await task.called('post two', 3);
    await task.reaches('pausing');
    expect(await task.cancel()).toEqual({ cancelled: true });
    expect(await task.end()).toEqual({ status: 'failed', code: 'task_cancelled' });
  });

  it('moves to the next channel at once if the configuration lacks the first', async () => {
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    const gone = { channel: 'gone', credential: 'a' };
    const task = await tasks.start({ candidates: [gone, ...both] });
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls()[0]).toBe('submit one');
  });

  it('whose job failed and is to be replaced is submitted elsewhere', async () => {
    const fallback = { candidates: both, on: ['internal'], max: 2 } as const;
    tasks.upstream.wait = async (job) =>
      job === 'job-1' ? { kind: 'failed', class: 'internal' } : { kind: 'succeeded' };
    const task = await tasks.start({}, { plan: { candidates: [both[0]], fallback: fallback as never } });
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls()).toEqual([
      'submit one',
      'post one',
      'wait job-1',
      'submit two',
      'post two',
      'wait job-2',
      'finish',
    ]);
  });

  it('makes no call if the task has no record', async () => {
    const input = { deadlineAt: Date.now() + 3_600_000 };
    const task = await tasks.start(input, { state: { at: 'ended', abandoned: 'try-1' } });
    expect(await task.end()).toEqual({ status: 'abandoned' });
    expect(task.calls()).toEqual([]);
  });
});

describe('a wait', () => {
  it('that failed permanently starts again while the record says that the upstream has the job', async () => {
    tasks.upstream.wait = (_job, wait) => (wait < 4 ? forGood() : Promise.resolve({ kind: 'succeeded' }));
    const task = await tasks.start();
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls().filter((call) => call === 'post one')).toHaveLength(1);
    expect(task.calls()).not.toContain('find');
    const pauses = (await task.events()).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? [Number(timer.startToFireTimeout?.seconds)] : [],
    );
    expect(pauses.slice(1)).toEqual(expect.arrayContaining([1, 2]));
  });

  it('that broke asks for an operator, who has it retried', async () => {
    tasks.upstream.wait = async (_job, wait) => ({ kind: wait === 1 ? 'broken' : 'succeeded' });
    const task = await tasks.start();
    await task.reaches('broken');
    await expect.poll(() => task.attribute('NeedsAttention')).toEqual(['poll_failed']);
    expect(await task.details()).toContain('Polling one has stopped (unknown_job).');
    await task.act('retry_now');
    expect(await task.end()).toEqual(succeeded);
    await expect.poll(() => task.attribute('NeedsAttention')).toBeUndefined();
  });

  it('shows a poll’s concern until it has passed, and not beyond the end of the task', async () => {
    const task = await waiting();
    await task.handle.signal(concernSignal, 'poll_failing');
    await expect.poll(() => task.details()).toContain('Needs attention: poll_failing');
    await expect.poll(() => task.attribute('NeedsAttention')).toEqual(['poll_failing']);
    await task.handle.signal(concernSignal, null);
    await expect.poll(() => task.details()).not.toContain('Needs attention');
    await expect.poll(() => task.attribute('NeedsAttention')).toBeUndefined();
    await task.handle.signal(concernSignal, 'overdue');
    await expect.poll(() => task.attribute('NeedsAttention')).toEqual(['overdue']);
    await task.act('fail');
    await task.end();
    await expect.poll(() => task.attribute('NeedsAttention')).toBeUndefined();
  });

  it('whose worker ends it late is not disturbed: the next submission waits until it is over', async () => {
    const fallback = { candidates: both, on: ['internal'], max: 2 };
    let isOver = false;
    tasks.upstream.submit = async (_submit, post): Promise<SubmitAnswer> =>
      post === 1 || isOver ? { kind: 'accepted', id: `job-${post}` } : { kind: 'lost' };
    tasks.upstream.wait = async (_job, wait) => {
      if (wait > 1) return { kind: 'succeeded' };
      try {
        return await asks();
      } catch (error) {
        if (!(error instanceof CancelledFailure)) throw error;
        await new Promise((resolve) => void setTimeout(resolve, 2_000));
        isOver = true;
        throw error;
      }
    };
    const task = await tasks.start({}, { plan: { candidates: [both[0]], fallback: fallback as never } });
    await task.called('wait job-1');
    // Simulate an upstream's callback that has reached another worker.
    const failure = { class: 'internal' } as const;
    const outcome = { kind: 'failed', code: 'broke', message: 'it broke', failure } as const;
    await tasks.records.step(task.id, { kind: 'polled', n: 1, job: 'job-1', outcome, unbilled: true });
    await task.act('extend', { seconds: 60 });
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls().filter((call) => call.startsWith('post'))).toEqual(['post one', 'post two']);
    expect(await task.failedWorkflowTasks()).toEqual([]);
  });
});

describe('a cancellation', () => {
  it('in the first moments after the create ends the task before anything is sent', async () => {
    tasks.upstream.gate = later;
    const task = await tasks.start();
    expect(await task.cancel()).toEqual({ cancelled: true });
    expect(await task.end()).toEqual({ status: 'failed', code: 'task_cancelled' });
    expect(task.calls().filter((call) => call.startsWith('post'))).toEqual([]);
  });

  it('in the first moments after the create waits for the response to a request in flight, and then asks the upstream', async () => {
    const answer = signal();
    tasks.upstream.submit = async () => {
      await answer.given;
      return { kind: 'accepted', id: 'job-1' };
    };
    tasks.upstream.cancel = async () => 'cancelled';
    const task = await tasks.start();
    await task.called('post one');
    const cancelled = task.cancel();
    await expect.poll(() => task.record().state).toMatchObject({ stop: 'cancel' });
    answer.give();
    expect(await cancelled).toEqual({ cancelled: true });
    expect(task.calls()).toEqual(['submit one', 'post one', 'cancel', 'finish']);
  });

  it('while the task backs off after a refusal ends the task at once', async () => {
    tasks.upstream.submit = async () => ({ kind: 'not_accepted', stays: true });
    const task = await tasks.start();
    await expect.poll(() => task.record().attempts[0]?.state).toBe('not_accepted');
    expect(await task.cancel()).toEqual({ cancelled: true });
    expect(await task.end()).toEqual({ status: 'failed', code: 'task_cancelled' });
  });

  it.each([
    ['between two attempts', later],
    ['with a worker', asks],
  ])('that the upstream accepts ends the task whose wait is %s', async (_, wait) => {
    tasks.upstream.wait = wait;
    tasks.upstream.cancel = async () => 'cancelled';
    const task = await waiting();
    expect(await task.cancel()).toEqual({ cancelled: true });
    expect(await task.end()).toEqual({ status: 'failed', code: 'task_cancelled' });
    expect(task.calls()).toEqual(['submit one', 'post one', 'wait job-1', 'cancel', 'finish']);
  });

  it('that the upstream refuses leaves the same activity to wait for the end of the job', async () => {
    const end = signal();
    tasks.upstream.wait = async () => {
      await withHeartbeats(end.given);
      return { kind: 'succeeded' };
    };
    const task = await waiting();
    expect(await task.cancel()).toEqual({
      cancelled: false,
      message: 'The upstream is already working on the task, so it can no longer be cancelled.',
    });
    await task.act('retry_now');
    expect(task.calls()).toContain('wake submit');
    end.give();
    expect(await task.end()).toEqual(succeeded);
    expect(task.calls().filter((call) => call.startsWith('wait'))).toHaveLength(1);
  });

  it('that was refused stays refused if polling breaks meanwhile', async () => {
    const asked = signal();
    const broken = signal();
    tasks.upstream.wait = async (_job, wait) => {
      if (wait > 1) return { kind: 'succeeded' };
      await withHeartbeats(asked.given);
      return { kind: 'broken' };
    };
    tasks.upstream.cancel = async () => {
      asked.give();
      await broken.given;
      return 'refused';
    };
    const task = await waiting();
    const cancelled = task.cancel();
    await expect.poll(() => task.record().state).toMatchObject({ at: 'stopping', code: 'unknown_job' });
    broken.give();
    expect(await cancelled).toMatchObject({ cancelled: false });
    expect(task.calls()).not.toContain('finish');
    await task.act('retry_now', { by: 'ada', reason: 'the channel works again' });
    expect(await task.end()).toEqual(succeeded);
  });

  it('of a submission whose response is lost gets a reply, and does not affect an operator’s later decision', async () => {
    const answer = signal();
    tasks.upstream.submit = async (_submit, post) => {
      if (post > 1) return { kind: 'accepted', id: 'job-2' };
      await answer.given;
      return { kind: 'lost' };
    };
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    const task = await tasks.start();
    await task.called('post one');
    const cancelled = task.cancel();
    await expect.poll(() => task.record().state).toMatchObject({ stop: 'cancel' });
    answer.give();
    expect(await cancelled).toMatchObject({
      cancelled: false,
      message: expect.stringContaining('not known'),
    });
    await expect.poll(() => task.attribute('NeedsAttention')).toEqual(['submit_ambiguous']);
    await task.act('resubmit');
    expect(await task.end()).toEqual(succeeded);
  });

  it('from the UI has the same effect as from the API', async () => {
    tasks.upstream.cancel = async () => 'cancelled';
    const task = await waiting();
    await task.handle.cancel();
    expect(await task.end()).toEqual({ status: 'failed', code: 'task_cancelled' });
  });

  it('from the UI without an effect explains why, and operators can act on the task as before', async () => {
    tasks.upstream.submit = async () => ({ kind: 'lost' });
    const task = await tasks.start();
    await expect.poll(() => task.details()).toContain('Needs attention: submit_ambiguous');
    await task.handle.cancel();
    await expect.poll(() => task.details()).toContain('A cancellation was requested');
    expect(await task.details()).toContain('Needs attention: submit_ambiguous');
    expect(await task.details()).toContain('Held 1.500000 USD');
    expect(await task.cancel()).toMatchObject({ cancelled: false });
    expect(await task.refusal('cancel')).toContain('Possible now: adopt, resubmit');
    await task.act('fail');
    expect(await task.end()).toMatchObject({ status: 'failed', code: 'internal_error' });
  });
});
