import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { reasonOf } from '../../activities/note-attention.ts';
import type {
  AcceptedJob,
  FinishTask,
  PollInput,
  PollResult,
  SubmitInput,
  SubmitResult,
} from '../../activities/types.ts';
import { cancelUpdate, concernSignal } from '../../workflows/messages.ts';
import { usePlayedTasks } from './played-tasks.ts';

/** One activity submits and then waits; the test plays it, its upstream's record, and whoever interrupts it. */

let submit: (input: SubmitInput, call: number) => Promise<SubmitResult>;
let poll: (input: PollInput, call: number) => Promise<PollResult>;
let lookup: SubmitResult;
/** The attempt's record. */
let job: AcceptedJob | undefined;
let upstreamCancels: 'cancelled' | 'refused';
const calls: string[] = [];
const submits: SubmitInput[] = [];
const polls: PollInput[] = [];
const finished: FinishTask[] = [];
const attentions: string[] = [];
const woken: string[] = [];

const tasks = usePlayedTasks({
  task: {
    claimTask: async () => ({ state: 'open' }),
    findJob: async () => {
      calls.push('findJob');
      return job;
    },
    noteAttention: async (_task, asked) => void attentions.push(reasonOf(asked) ?? 'none'),
    recordAction: async () => undefined,
    moveDeadline: async () => undefined,
    wakeTask: async (_task, activity) => woken.push(activity) > 0,
    finishTask: async (finish) => {
      finished.push(finish);
      return { charge: finish.outcome.kind === 'succeeded' ? '7' : '0' };
    },
  },
  channel: {
    submit: (input) => {
      calls.push('submit');
      return submit(input, submits.push(input));
    },
    findLostJob: async () => {
      calls.push('findLostJob');
      return lookup;
    },
    poll: (input) => {
      calls.push(input.last ? 'final poll' : 'poll');
      return poll(input, polls.push(input));
    },
    cancelUpstream: async () => {
      calls.push('cancelUpstream');
      return upstreamCancels;
    },
    completeTask: async () => ({ kind: 'completed', charge: '7' }),
  },
});

const candidate = { channel: 'one', credential: 'a' };
const operation = { id: 'job' };
const facts = { durationSeconds: 5 };
const accepted = { kind: 'accepted', operation } as const;
const done = { ...accepted, polled: { kind: 'succeeded', facts } } as const satisfies SubmitResult;
const notSent = { kind: 'not_accepted', code: 'never_sent' } as const;

/** The activity is between two attempts, for longer than any test. */
const waits = (): Promise<never> => {
  throw ApplicationFailure.create({ message: 'running, 3 polls, next in 600 s', nextRetryDelay: '10m' });
};

/** An attempt that asks the upstream until it is cancelled. */
async function asks(): Promise<never> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 100);
  try {
    return await context.cancelled;
  } finally {
    clearInterval(timer);
  }
}

beforeEach(() => {
  for (const seen of [calls, submits, polls, finished, attentions, woken]) seen.length = 0;
  submit = waits;
  poll = async () => ({ kind: 'succeeded', facts });
  lookup = notSent;
  job = undefined;
  upstreamCancels = 'refused';
});

const until = <Value>(read: () => Value, expected: unknown) =>
  expect.poll(read, { timeout: 20_000 }).toEqual(expected);
const act = (handle: WorkflowHandle, name: string, input: Record<string, unknown> = {}) =>
  handle.executeUpdate<{ task: string }, [unknown]>(name, { args: [{ reason: 'r', ...input }] });
const details = async (handle: WorkflowHandle): Promise<string> => {
  const metadata: { currentDetails?: string } = await handle.query('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
};
const startOne = (change: Parameters<typeof tasks.start>[0] = {}) =>
  tasks.start({ candidates: [candidate], ...change });

/** The activity has submitted the job, which its record says, and waits for its end. */
async function watching(change: Parameters<typeof tasks.start>[0] = {}): Promise<WorkflowHandle> {
  job = { candidate, operation, acceptedAt: Date.now() };
  const handle = await startOne(change);
  await until(() => submits.length, 1);
  return handle;
}

describe('an attended submission', () => {
  it('is the whole wait: no second activity, and at most 17 events', async () => {
    submit = async () => done;
    const handle = await startOne();
    expect(await handle.result()).toEqual({ status: 'succeeded', charge: '7' });
    expect(calls).toEqual(['submit']);
    expect(finished[0]?.outcome).toMatchObject({ kind: 'succeeded', candidate, facts });
    const { events } = await handle.fetchHistory();
    expect(events?.length).toBeLessThanOrEqual(17);
  });

  it.each(['one', 'two'])('shows operators where it is while it waits: at %s', async (channel) => {
    submit = (input) => (input.candidate.channel === channel ? waits() : Promise.resolve(notSent));
    const handle = await tasks.start();
    await until(() => submits.at(-1)?.candidate.channel, channel);
    const shown = async () => (await handle.describe()).searchAttributes['MediaChannel'] ?? ['one'];
    await expect.poll(shown, { timeout: 20_000 }).toEqual([channel]);
    await expect.poll(() => details(handle), { timeout: 20_000 }).toContain(`**${channel}**`);
    await handle.terminate();
  });

  it('whose job is an earlier attempt’s, elsewhere, is polled there, from the time of its acceptance', async () => {
    submit = async () => ({ ...accepted, candidate: { channel: 'two', credential: 'b' }, acceptedAt: 1_000 });
    const handle = await startOne();
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(calls).toEqual(['submit', 'poll']);
    expect(polls[0]).toMatchObject({ candidate: { channel: 'two' }, acceptedAt: 1_000 });
  });

  it('that dies for good leaves the decision to the record, and the wait to a poll', async () => {
    submit = () => {
      throw ApplicationFailure.nonRetryable('it died');
    };
    lookup = accepted;
    const handle = await startOne();
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(calls).toEqual(['submit', 'findLostJob', 'poll']);
  });

  it('whose polling broke asks for a person, who polls again', async () => {
    submit = async () => ({ ...accepted, polled: 'broken' });
    const handle = await startOne();
    await until(() => attentions, ['poll_failed']);
    await act(handle, 'retry_now');
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(calls).toEqual(['submit', 'poll']);
  });

  it('whose job failed and is to be replaced is submitted elsewhere', async () => {
    const next = [{ channel: 'two', credential: 'b' }];
    submit = async (_input, call) => (call === 1 ? { ...accepted, polled: { kind: 'failed', next } } : done);
    const handle = await startOne();
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(submits.map(({ n, candidate: { channel }, replaces }) => [n, channel, replaces])).toEqual([
      [1, 'one', undefined],
      [2, 'two', true],
    ]);
  });
});

describe('a cancellation', () => {
  it('before the job is sent withdraws it at once', async () => {
    const handle = await startOne();
    await until(() => submits.length, 1);
    expect(await handle.executeUpdate(cancelUpdate)).toEqual({ cancelled: true });
    expect(calls).toEqual(['submit', 'findJob', 'findLostJob']);
    expect(await handle.result()).toEqual({ status: 'failed', code: 'task_cancelled' });
  });

  it('while the request is in flight waits for its answer, and then asks the upstream', async () => {
    let answer: (result: SubmitResult) => void = () => undefined;
    submit = async () => {
      const context = Context.current();
      const timer = setInterval(() => context.heartbeat(), 100);
      const result = await new Promise<SubmitResult>((resolve) => (answer = resolve));
      clearInterval(timer);
      return result;
    };
    const handle = await startOne();
    await until(() => submits.length, 1);
    upstreamCancels = 'cancelled';
    poll = waits;
    const cancelled = handle.executeUpdate(cancelUpdate);
    await until(() => calls, ['submit', 'findJob']);
    answer(accepted);
    expect(await cancelled).toEqual({ cancelled: true });
    expect(calls).toContain('cancelUpstream');
    expect(calls).not.toContain('findLostJob');
  });

  it('that the upstream accepts ends the task, whatever its activity is doing', async () => {
    submit = asks;
    const handle = await watching();
    upstreamCancels = 'cancelled';
    expect(await handle.executeUpdate(cancelUpdate)).toEqual({ cancelled: true });
    expect(calls).toEqual(['submit', 'findJob', 'cancelUpstream']);
    expect(await handle.result()).toEqual({ status: 'failed', code: 'task_cancelled' });
  });

  it('that the upstream refuses leaves the activity to wait for the end of the job', async () => {
    let end: (result: SubmitResult) => void = () => undefined;
    submit = () => new Promise((resolve) => (end = resolve));
    const handle = await watching();
    expect(await handle.executeUpdate(cancelUpdate)).toMatchObject({ cancelled: false });
    await act(handle, 'retry_now');
    expect(woken).toEqual(['submit']);
    end(done);
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(calls).toEqual(['submit', 'findJob', 'cancelUpstream']);
  });
});

describe('the deadline', () => {
  it.each([
    ['is between two attempts', waits],
    ['asks the upstream', asks],
  ])('polls once more, and cancels the job, while the activity %s', async (_, attempt) => {
    submit = attempt;
    poll = async () => ({ kind: 'unfinished' });
    const handle = await watching({ deadlineAt: Date.now() + 10_000 });
    expect(await handle.result()).toEqual({ status: 'failed', code: 'task_expired' });
    expect(calls).toEqual(['submit', 'findJob', 'final poll', 'cancelUpstream']);
  });

  it('withdraws what was not sent', async () => {
    const handle = await startOne({ deadlineAt: Date.now() + 10_000 });
    expect(await handle.result()).toEqual({ status: 'failed', code: 'task_expired' });
    expect(calls).toEqual(['submit', 'findJob', 'findLostJob']);
  });

  it('that was moved is not the activity’s: when it leaves the job, a poll with the new one follows', async () => {
    let end: (result: SubmitResult) => void = () => undefined;
    submit = () => new Promise((resolve) => (end = resolve));
    const handle = await watching();
    await act(handle, 'extend', { seconds: 600 });
    end(accepted);
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(calls).toEqual(['submit', 'poll']);
    expect((polls[0]?.deadlineAt ?? 0) - (submits[0]?.deadlineAt ?? 0)).toBe(600_000);
  });
});

describe('an operator', () => {
  it('completes a task whose job was accepted', async () => {
    submit = asks;
    const handle = await watching();
    await act(handle, 'complete', { result_url: 'https://files.example/a.mp4' });
    expect(await handle.result()).toEqual({ status: 'succeeded', charge: '7' });
  });

  it('cannot complete one that was not sent: nothing changes', async () => {
    const handle = await startOne();
    await until(() => submits.length, 1);
    const refusal = await act(handle, 'complete', { result_url: 'https://files.example/a.mp4' }).catch(
      (error: unknown) => (error instanceof Error && error.cause instanceof Error ? error.cause.message : ''),
    );
    expect(refusal).toMatch(
      /^`complete` is not possible: the task is being submitted, or waits until it can be/,
    );
    await act(handle, 'retry_now');
    expect(woken).toEqual(['submit']);
    expect(calls).toEqual(['submit', 'findJob']);
    await act(handle, 'fail');
    expect(await handle.result()).toEqual({ status: 'failed', code: 'internal_error' });
  });

  it('is shown what the poll is concerned about, before the workflow knows that the job was accepted', async () => {
    poll = async () => ({ kind: 'unfinished' });
    const handle = await watching();
    await handle.signal(concernSignal, { concern: 'overdue', text: 'running, 99 polls' });
    await expect.poll(() => details(handle), { timeout: 20_000 }).toContain('overdue** (running, 99 polls)');
    const reason = async () => (await handle.describe()).searchAttributes['NeedsAttention'];
    await expect.poll(reason, { timeout: 20_000 }).toEqual(['overdue']);
    await act(handle, 'fail');
    await handle.result();
    await expect.poll(reason, { timeout: 20_000 }).toBeUndefined();
  });

  it('who extended a task after its cancel was refused: the next submission waits until the activity is over', async () => {
    const next = [{ channel: 'one', credential: 'b' }];
    let over = false;
    submit = async (_input, call) => {
      if (call > 1) return over ? done : { kind: 'ambiguous', code: 'too_early' };
      try {
        return await asks();
      } catch (error) {
        if (!(error instanceof CancelledFailure)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        over = true;
        throw error;
      }
    };
    poll = async () => ({ kind: 'failed', next });
    const handle = await watching();
    await handle.executeUpdate(cancelUpdate);
    await act(handle, 'extend', { seconds: 60 });
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(calls.filter((name) => name === 'submit')).toHaveLength(2);
    expect(await tasks.failedWorkflowTasks(handle)).toBe(0);
  });
});
