import { randomBytes } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { reasonOf } from '../../activities/note-attention.ts';
import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { SubmitInput, SubmitResult } from '../../activities/types.ts';
import { usePlayedTasks } from './played-tasks.ts';

type Answers = {
  submit: (input: SubmitInput, call: number) => Promise<SubmitResult>;
  findLostJob: (input: SubmitInput, call: number) => Promise<SubmitResult>;
};

describe('the submission of a task', () => {
  const answers = new Map<string, Answers>();
  const calls = new Map<string, number>();
  const attention: string[] = [];

  const count = (name: string): number => {
    const next = (calls.get(name) ?? 0) + 1;
    calls.set(name, next);
    return next;
  };
  const answer = (name: keyof Answers) => (input: SubmitInput) => {
    const of = answers.get(input.task);
    if (of === undefined) throw new Error('no answers');
    return of[name](input, count(`${input.task} ${name}`));
  };

  const tasks = usePlayedTasks({
    task: {
      noteAttention: async (task, asked) => void attention.push(`${task} ${reasonOf(asked) ?? ''}`),
      findJob: async () => undefined,
    },
    channel: { submit: answer('submit'), findLostJob: answer('findLostJob') },
    workflow: { type: 'submitOnly', module: new URL('submit-only.ts', import.meta.url) },
  });

  async function start(of: Answers, channels = ['one']): Promise<WorkflowHandle> {
    const task = `task_${randomBytes(12).toString('hex')}`;
    answers.set(task, of);
    return tasks.start({ task, candidates: channels.map((channel) => ({ channel, credential: 'a' })) });
  }

  const called = (handle: WorkflowHandle, name: keyof Answers): number =>
    calls.get(`${handle.workflowId} ${name}`) ?? 0;
  const untilCalled = (handle: WorkflowHandle, name: keyof Answers, times = 1) =>
    expect.poll(() => called(handle, name), { timeout: 20_000 }).toBeGreaterThanOrEqual(times);
  const untilAttention = (handle: WorkflowHandle) =>
    expect.poll(() => attention, { timeout: 20_000 }).toContain(`${handle.workflowId} submit_ambiguous`);

  /** As Temporal sees a worker that died after its request: the activity waits for its next try. */
  const diedWhileSending = async (): Promise<SubmitResult> => {
    throw ApplicationFailure.create({ message: 'died', nextRetryDelay: '10m' });
  };
  const accepted = async (): Promise<SubmitResult> => ({ kind: 'accepted', operation: { id: 'job' } });
  const notAccepted = async (): Promise<SubmitResult> => ({ kind: 'not_accepted', code: 'never_sent' });
  const ambiguous = async (): Promise<SubmitResult> => ({ kind: 'ambiguous', code: 'submission_lost' });

  it.each(['cancel', 'deadline'])(
    'that was sent and waits for its retry is not forgotten at a %s',
    async (signal) => {
      const handle = await start({ submit: diedWhileSending, findLostJob: accepted });
      await untilCalled(handle, 'submit');
      await handle.signal(signal);
      expect(await handle.result()).toEqual({ job: 'job' });
      expect(called(handle, 'submit')).toBe(1);
    },
  );

  it.each([
    ['cancel', 'task_cancelled'],
    ['deadline', 'task_expired'],
  ])('that was never sent ends at a %s once that is written', async (signal, code) => {
    const handle = await start({ submit: diedWhileSending, findLostJob: notAccepted });
    await untilCalled(handle, 'submit');
    await handle.signal(signal);
    expect(await handle.result()).toEqual({ code });
    expect(called(handle, 'findLostJob')).toBe(1);
  });

  it('asks for an operator when nobody knows whether the cancelled submission was accepted', async () => {
    const handle = await start({ submit: diedWhileSending, findLostJob: ambiguous });
    await untilCalled(handle, 'submit');
    await handle.signal('cancel');
    await untilAttention(handle);
    await handle.signal('deadline');
    expect(await handle.result()).toEqual({ code: 'task_expired' });
  });

  it('is made again by an operator, whatever a caller who was refused a cancel had wished before', async () => {
    const handle = await start({
      submit: (_input, call) => (call === 1 ? diedWhileSending() : accepted()),
      findLostJob: ambiguous,
    });
    await untilCalled(handle, 'submit');
    await handle.signal('cancel');
    await untilAttention(handle);
    await handle.signal('resubmit');
    expect(await handle.result()).toEqual({ job: 'job' });
    expect(called(handle, 'submit')).toBe(2);
  });

  it('goes to the next channel when a late answer says that the first did not accept', async () => {
    const handle = await start(
      {
        submit: (input) => (input.candidate.channel === 'one' ? ambiguous() : accepted()),
        findLostJob: (_input, call) => (call === 1 ? ambiguous() : notAccepted()),
      },
      ['one', 'two'],
    );
    await untilAttention(handle);
    await handle.signal('retry_now');
    expect(await handle.result()).toEqual({ job: 'job' });
  });

  it('pauses on the server after a round in which no channel accepted, longer each time', async () => {
    const handle = await start({ submit: notAccepted, findLostJob: notAccepted }, ['one', 'two']);
    await untilCalled(handle, 'submit', 4);
    const history = async () => (await handle.fetchHistory()).events ?? [];
    const pauses = async () =>
      (await history()).flatMap(({ timerStartedEventAttributes: timer }) =>
        timer ? [Number(timer.startToFireTimeout?.seconds)] : [],
      );
    await expect.poll(pauses, { timeout: 20_000 }).toEqual([5, 10]);
    expect((await history()).length).toBeLessThan(60);
    expect(called(handle, 'submit')).toBe(4);
    await handle.signal('cancel');
    expect(await handle.result()).toEqual({ code: 'task_cancelled' });
  });
});
