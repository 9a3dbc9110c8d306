import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { reasonOf } from '../../activities/note-attention.ts';
import type { WorkflowHandle } from '@temporalio/client';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type {
  Adopted,
  CompleteInput,
  FinishTask,
  PollInput,
  PollResult,
  Refused,
  SubmitInput,
  SubmitResult,
} from '../../activities/types.ts';
import type { ActionResult, TaskSituation, WorkflowActionName } from '../../src/domain/operator-actions.ts';
import { operatorActions, refusalOf, workflowActions } from '../../src/domain/operator-actions.ts';
import type { TaskActionRecord } from '../../src/domain/task-record.ts';
import { cancelUpdate, concernSignal } from '../../workflows/messages.ts';
import { usePlayedTasks } from './played-tasks.ts';

/** Operators act on a task's workflow as the Temporal UI does; the test plays the activities. */

const records: (TaskActionRecord & { task: string })[] = [];
const attentions: string[] = [];
const finished: FinishTask[] = [];
const submits: SubmitInput[] = [];
const polls: PollInput[] = [];
const deadlines: number[] = [];
const woken: string[] = [];
const cancels: string[] = [];
let submitted: SubmitResult[] = [];
let lookup: SubmitResult;
let adoption: Adopted | Refused;
let polled: () => Promise<PollResult>;
/** What the completion by hand waits for. */
let completing: () => Promise<void>;
/** What the database takes for the record of an action, and for what a task asks its operators. */
let recordingMs: number;
let notingMs: number;

const lost: SubmitResult = { kind: 'ambiguous', code: 'timeout' };
const accepted: SubmitResult = { kind: 'accepted', operation: { id: 'job' } };
const never = (): Promise<PollResult> => {
  throw ApplicationFailure.create({ message: 'later', nextRetryDelay: '10m' });
};

const tasks = usePlayedTasks({
  task: {
    claimTask: async () => ({ state: 'open' }),
    noteAttention: async (task, asked) => {
      await sleep(notingMs);
      attentions.push(`${task} ${reasonOf(asked) ?? 'none'}`);
    },
    recordAction: async (task, record) => {
      await sleep(recordingMs);
      records.push({ ...record, task });
    },
    moveDeadline: async (_task, at) => void deadlines.push(at),
    wakeTask: async (_task, activity) => woken.push(activity) > 0,
    finishTask: async (finish) => {
      finished.push(finish);
      return { charge: finish.outcome.kind === 'succeeded' ? '700000' : '0' };
    },
  },
  channel: {
    submit: async (input) => {
      submits.push(input);
      return submitted.shift() ?? accepted;
    },
    findLostJob: async () => lookup,
    poll: (input) => {
      polls.push(input);
      return polled();
    },
    cancelUpstream: async ({ task }) => {
      cancels.push(task);
      return 'refused';
    },
    adoptJob: async () => adoption,
    completeTask: async (_input: CompleteInput) => {
      await completing();
      return { kind: 'completed', charge: '700000' };
    },
    undoAdoption: async () => ({ kind: 'undone' }),
  },
});

beforeEach(() => {
  for (const seen of [records, attentions, finished, submits, polls, deadlines, woken, cancels])
    seen.length = 0;
  submitted = [lost];
  lookup = lost;
  adoption = { kind: 'adopted', operation: { id: 'job' }, state: 'pending' };
  polled = never;
  completing = async () => undefined;
  recordingMs = 0;
  notingMs = 0;
});

const act = (handle: WorkflowHandle, name: WorkflowActionName | 'cancel', input: unknown) =>
  handle.executeUpdate<ActionResult, [unknown]>(name, { args: [input] });
const details = async (handle: WorkflowHandle): Promise<string> => {
  const metadata: { currentDetails?: string } = await handle.query('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
};
const until = <Value>(read: () => Value, expected: unknown) =>
  expect.poll(read, { timeout: 20_000 }).toEqual(expected);

function isPossible(name: string, situation: TaskSituation): boolean {
  const action = operatorActions.find((known) => known === name);
  return action !== undefined && refusalOf(action, situation) === undefined;
}

/** A task that asks an operator about a lost submission. */
async function parked(): Promise<WorkflowHandle> {
  const handle = await tasks.start();
  await until(() => attentions, [`${handle.workflowId} submit_ambiguous`]);
  return handle;
}

async function watching(): Promise<WorkflowHandle> {
  submitted = [accepted];
  const handle = await tasks.start();
  await until(() => polls.length, 1);
  return handle;
}

async function refusal(update: Promise<unknown>): Promise<string> {
  try {
    await update;
  } catch (error) {
    expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    return cause instanceof Error ? cause.message : '';
  }
  throw new Error('the action was not refused');
}

describe('an input that a person got wrong', () => {
  it('is refused with a sentence by every action, and does not fail the workflow task', async () => {
    const handle = await parked();
    for (const name of workflowActions) {
      for (const given of ['nothing', null, '', 7, [], {}, { reason: 5 }]) {
        const update =
          given === 'nothing'
            ? handle.executeUpdate(name)
            : handle.executeUpdate<unknown, [unknown]>(name, { args: [given] });
        const message = await refusal(update);
        expect(message).toMatch(/`\w+`/);
      }
    }
    expect(await tasks.failedWorkflowTasks(handle)).toBe(0);
    expect(await details(handle)).toContain('Needs attention: submit_ambiguous');
    expect(records).toEqual([]);
    await act(handle, 'fail', 'the reason alone is enough');
  }, 60_000);
});

/** The actions of the command lines in the advice. */
async function advised(handle: WorkflowHandle): Promise<string[]> {
  const text = await details(handle);
  const lines = text.matchAll(/`gateway tasks action (\S+) (\w+)( --[a-z-]+ \S+)? --reason "…"`/g);
  return [...lines].map(([, task, action]) => `${task === handle.workflowId ? '' : task}${action}`);
}

describe('a submission whose outcome nobody knows', () => {
  it('says where to look, and the command of every action that helps', async () => {
    const handle = await parked();
    const actions = await advised(handle);
    expect(actions).toEqual(['adopt', 'resubmit', 'complete', 'fail']);
    expect(await details(handle)).toMatch(/Channel \*\*one\*\*, credential \w+, marker `\S+`/);
    expect(actions.filter((name) => !isPossible(name, 'lost'))).toEqual([]);
    await act(handle, 'fail', 'r');
  });

  it('a job that the upstream does not confirm is refused, and nothing changes', async () => {
    const handle = await parked();
    adoption = { kind: 'refused', message: 'one does not know the job x.' };
    const message = await refusal(act(handle, 'adopt', { upstream_id: 'x', reason: 'console' }));
    expect(message).toBe('one does not know the job x. Nothing was changed.');
    expect(await details(handle)).toContain('Needs attention: submit_ambiguous');
    expect([records, attentions.length, polls]).toEqual([[], 1, []]);
    await handle.terminate();
  });

  it('adopts a job, and takes it back', async () => {
    const handle = await parked();
    const input = { upstream_id: 'job', reason: 'in the console', by: 'ada' };
    const said = await act(handle, 'adopt', { ...input, dry_run: true });
    expect([said.dry_run, records, polls]).toEqual([true, [], []]);
    await act(handle, 'adopt', input);
    await until(() => polls.length, 1);
    expect(polls[0]).toMatchObject({ operation: { id: 'job' } });
    expect(records).toMatchObject([
      { action: 'adopt', by: 'temporal:ada', reason: 'in the console', task: handle.workflowId },
    ]);
    await act(handle, 'undo', 'a wrong line');
    await until(() => attentions.at(-1), `${handle.workflowId} submit_ambiguous`);
    await act(handle, 'adopt', { upstream_id: 'other', reason: 'the right line' });
    await until(() => polls.length, 2);
    expect(await refusal(act(handle, 'adopt', input))).toContain('Possible now: retry_now, fail');
    await act(handle, 'fail', 'enough');
    expect(records.map(({ action }) => action)).toEqual(['adopt', 'undo', 'adopt', 'fail']);
  });

  it('is submitted again to the same channel, or to a named one of the plan', async () => {
    const handle = await parked();
    expect(await refusal(act(handle, 'resubmit', { channel: 'three', reason: 'r' }))).toBe(
      'The task’s plan has no channel `three`; it has one, two. Nothing was changed.',
    );
    submitted = [lost];
    const said = await act(handle, 'resubmit', { reason: 'not in the console' });
    expect(said.money).toContain('the upstream bills two');
    await until(() => submits.map(({ n, candidate }) => [n, candidate.channel]), [[1, 'one'], [2, 'one']]); // prettier-ignore
    await until(() => attentions.length, 3);
    await act(handle, 'resubmit', { channel: 'two', reason: 'the other' });
    await until(() => submits.at(-1)?.candidate.channel, 'two');
    await until(() => polls.length, 1);
    await handle.terminate();
  });

  it('retry_now looks for the job again', async () => {
    const handle = await parked();
    expect(await refusal(act(handle, 'retry_now', 'again'))).toContain('still shows no job');
    lookup = accepted;
    expect((await act(handle, 'retry_now', 'again')).task).toBe('The job job was found at one.');
    await until(() => polls.length, 1);
    await handle.terminate();
  });

  it('is completed by hand, and charged', async () => {
    const handle = await parked();
    const input = { result_url: 'https://files.example/a.mp4', duration: 5, reason: 'had it in the console' };
    expect((await act(handle, 'complete', input)).money).toBe(
      '0.700000 USD is charged; 1.500000 USD is held.',
    );
    expect(await handle.result()).toEqual({ status: 'succeeded', charge: '700000' });
    expect(finished[0]?.outcome).toMatchObject({ kind: 'succeeded', facts: { durationSeconds: 5 } });
  });

  it('is completed by hand although its deadline passes while the result is recorded', async () => {
    const handle = await tasks.start({ deadlineAt: Date.now() + 12_000 });
    await until(() => attentions, [`${handle.workflowId} submit_ambiguous`]);
    const hasPassed = async () =>
      ((await handle.fetchHistory()).events ?? []).some((event) => Boolean(event.timerFiredEventAttributes));
    completing = async () => {
      lookup = { kind: 'not_accepted', code: 'given_up' };
      await expect.poll(hasPassed, { timeout: 30_000 }).toBe(true);
    };
    await act(handle, 'complete', { result_url: 'https://files.example/a.mp4', reason: 'in the console' });
    expect(await handle.result()).toEqual({ status: 'succeeded', charge: '700000' });
  });

  it('continues elsewhere when retry_now finds that it was rejected, and the task has a fallback', async () => {
    const handle = await parked();
    lookup = { kind: 'rejected', code: 'broken', next: [{ channel: 'two', credential: 'b' }] };
    submitted = [accepted];
    await act(handle, 'retry_now', 'again');
    await expect
      .poll(() => polls.map(({ candidate }) => candidate.channel), { timeout: 20_000 })
      .toEqual(['two']);
    await handle.terminate();
  });

  it('a cancellation from the UI says why it does nothing, and the advice stays', async () => {
    const handle = await parked();
    await handle.cancel();
    await expect.poll(() => details(handle), { timeout: 20_000 }).toContain('A cancellation was requested');
    expect(await details(handle)).toContain('Needs attention: submit_ambiguous');
    expect(await details(handle)).toContain('Held 1.500000 USD');
    expect(await handle.executeUpdate(cancelUpdate)).toMatchObject({ cancelled: false });
    expect(await refusal(act(handle, 'cancel', { reason: 'r' }))).toContain('Possible now: retry_now, adopt');
    await act(handle, 'fail', 'r');
    expect(await handle.result()).toMatchObject({ status: 'failed' });
  });
});

/** Both are local activities, and the workflow continues after each of them. */
describe.each([
  ['the record of an action', 300, 0],
  ['what the task asks its operators', 0, 300],
])('while the database is slow with %s', (_, recording, noting) => {
  const beSlow = (): void => {
    recordingMs = recording;
    notingMs = noting;
  };

  it('a task whose job was adopted can be continued by another worker', async () => {
    const handle = await parked();
    beSlow();
    await act(handle, 'adopt', { reason: 'r', upstream_id: 'job' });
    await until(() => [polls.length, records.length, attentions.length], [1, 1, 2]);
    expect(await tasks.replayError(handle)).toBeUndefined();
    await act(handle, 'undo', { reason: 'r' });
    await until(() => [records.length, attentions.length], [2, 3]);
    expect(await tasks.replayError(handle)).toBeUndefined();
    await act(handle, 'fail', { reason: 'r' });
    await handle.result();
    expect(await tasks.replayError(handle)).toBeUndefined();
  });

  it('so can one that was submitted again', async () => {
    submitted = [lost, accepted];
    const handle = await parked();
    beSlow();
    await act(handle, 'resubmit', { reason: 'r' });
    await until(() => [polls.length, records.length], [1, 1]);
    expect(await tasks.replayError(handle)).toBeUndefined();
    await handle.terminate();
  });
});

describe('a job that runs', () => {
  it('shows what its poll is concerned about until that has passed', async () => {
    const handle = await watching();
    const reason = async () => (await handle.describe()).searchAttributes['NeedsAttention'];
    const text = 'running, 14 polls, the last 14 failed (401 no_key: The key is not valid.)';
    await handle.signal(concernSignal, { concern: 'poll_failing', text });
    await expect.poll(() => details(handle), { timeout: 20_000 }).toContain(`poll_failing** (${text})`);
    await expect.poll(reason, { timeout: 20_000 }).toEqual(['poll_failing']);
    await handle.signal(concernSignal, { text: 'running, 15 polls' });
    await expect.poll(() => details(handle), { timeout: 20_000 }).not.toContain('Needs attention');
    await expect.poll(reason, { timeout: 20_000 }).toBeUndefined();
    await handle.signal(concernSignal, { concern: 'overdue', text });
    await expect.poll(() => details(handle), { timeout: 20_000 }).toContain('overdue');
    const actions = await advised(handle);
    expect(actions).toEqual(['retry_now', 'extend', 'complete', 'fail', 'retry_now']);
    expect(actions.filter((name) => !isPossible(name, 'watching'))).toEqual([]);
    await act(handle, 'fail', 'r');
    await handle.result();
    await expect.poll(reason, { timeout: 20_000 }).toBeUndefined();
  });

  it('is polled now; it has no lost submission, and no charge to accept', async () => {
    const handle = await watching();
    await act(handle, 'retry_now', 'news');
    expect(woken).toEqual(['poll']);
    for (const name of ['resubmit', 'accept_charge'] as const) {
      expect(await refusal(act(handle, name, 'r'))).toContain('is not possible');
    }
    expect(await refusal(act(handle, 'undo', 'r'))).toContain('was not adopted');
    expect(records.map(({ action }) => action)).toEqual(['retry_now']);
    await handle.terminate();
  });

  it('is cancelled only if that is meant', async () => {
    const handle = await watching();
    const said = await act(handle, 'cancel', { reason: 'r', dry_run: true });
    expect(said).toEqual({ cancelled: false, message: expect.stringContaining('nothing was done') });
    expect([cancels, records]).toEqual([[], []]);
    await act(handle, 'cancel', { reason: 'r' });
    expect(cancels).toEqual([handle.workflowId]);
    await handle.terminate();
  });

  it('is not cancelled once nobody can say what becomes of it', async () => {
    polled = () => {
      throw ApplicationFailure.nonRetryable('it does not know the job');
    };
    const handle = await watching();
    await until(() => attentions, [`${handle.workflowId} poll_failed`]);
    expect(await refusal(act(handle, 'cancel', { reason: 'r' }))).toBe(
      '`cancel` is not possible: polling stopped with an error that retrying will not fix. Possible now: retry_now, fail, complete, extend, undo.',
    );
    await act(handle, 'fail', 'r');
    expect(await handle.result()).toMatchObject({ status: 'failed' });
  });

  it('gets more time, and is polled on with the new deadline', async () => {
    const handle = await watching();
    const before = polls[0]?.deadlineAt ?? 0;
    await act(handle, 'extend', { seconds: 600, reason: 'a long one' });
    await until(() => polls.length, 2);
    expect([polls[1]?.deadlineAt, deadlines]).toEqual([before + 600_000, [before + 600_000]]);
    await handle.terminate();
  });

  it('gets more time twice while its poll is with a worker, and jams nothing', async () => {
    let left = 0;
    let mayLeave: Promise<void> = Promise.resolve();
    polled = async () => {
      if (polls.at(-1)?.last === true) return { kind: 'unfinished' };
      const context = Context.current();
      const beats = setInterval(() => context.heartbeat(), 200);
      try {
        // Until the workflow cancels it: it may end a while after that, as a poll does that waits for its upstream.
        return await context.cancelled;
      } finally {
        await mayLeave;
        clearInterval(beats);
        left += 1;
      }
    };
    const handle = await watching();
    const before = polls[0]?.deadlineAt ?? 0;
    await act(handle, 'extend', { seconds: 600, reason: 'a long one' });
    await act(handle, 'extend', { seconds: 600, reason: 'longer' });
    await act(handle, 'retry_now', 'at once');
    await expect.poll(() => polls.at(-1)?.deadlineAt, { timeout: 90_000 }).toBe(before + 1_200_000);
    expect(left).toBe(polls.length - 1);
    expect(await tasks.failedWorkflowTasks(handle)).toBe(0);
    // While the former poll leaves, a decision ends the task: nothing waits for it.
    let leave = (): void => undefined;
    mayLeave = new Promise((resolve) => (leave = resolve));
    onTestFinished(() => leave());
    await act(handle, 'extend', { seconds: 600, reason: 'once more' });
    const polledBefore = polls.length;
    await act(handle, 'fail', 'enough');
    expect(await handle.result()).toMatchObject({ code: 'internal_error' });
    // The last look at the deadline is a poll of its own.
    expect(polls.slice(polledBefore).filter(({ last }) => !last)).toEqual([]);
    expect(await tasks.failedWorkflowTasks(handle)).toBe(0);
  }, 180_000);

  it('outlives its first deadline, and ends at the second', async () => {
    submitted = [accepted];
    const handle = await tasks.start({ deadlineAt: Date.now() + 12_000 });
    await until(() => polls.length, 1);
    await act(handle, 'extend', { seconds: 60, reason: 'a long one' });
    const timers = async () =>
      ((await handle.fetchHistory()).events ?? []).filter((event) =>
        Boolean(event.timerStartedEventAttributes),
      );
    await expect.poll(async () => (await timers()).length, { timeout: 40_000 }).toBe(2);
    expect(finished).toEqual([]);
    await act(handle, 'fail', 'r');
    expect(await handle.result()).toMatchObject({ code: 'internal_error' });
  });

  it('is completed by hand although its upstream never says that it ended', async () => {
    const handle = await watching();
    await act(handle, 'complete', { result_url: 'https://files.example/a.mp4', reason: 'r' });
    expect(await handle.result()).toEqual({ status: 'succeeded', charge: '700000' });
    expect(records.map(({ action, detail }) => [action, detail])).toEqual([
      ['complete', 'The task succeeds with the result that was given.'],
    ]);
  });
});
