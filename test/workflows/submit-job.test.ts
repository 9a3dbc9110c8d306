import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SubmitInput, SubmitResult } from '../../activities/types.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { temporalAddress } from '../support/run-servers.ts';

type Answers = {
  submit: (input: SubmitInput, call: number) => Promise<SubmitResult>;
  findLostJob: (input: SubmitInput, call: number) => Promise<SubmitResult>;
};

describe('the submission of a task', () => {
  const prefix = `s${randomBytes(5).toString('hex')}-`;
  const answers = new Map<string, Answers>();
  const calls = new Map<string, number>();
  const attention: string[] = [];
  let client: Client;
  let stop: () => Promise<void>;

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

  beforeAll(async () => {
    const address = temporalAddress();
    const [connection, clientConnection, workflowBundle] = await Promise.all([
      NativeConnection.connect({ address }),
      Connection.connect({ address }),
      bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('submit-only.ts', import.meta.url)) }),
    ]);
    client = new Client({ connection: clientConnection });
    const noteAttention = async (task: string, reason?: string) =>
      void attention.push(`${task} ${reason ?? ''}`);
    const channel = { submit: answer('submit'), findLostJob: answer('findLostJob') };
    const workers = await Promise.all([
      Worker.create({
        connection,
        workflowBundle,
        taskQueue: `${prefix}tasks`,
        activities: { noteAttention },
      }),
      ...['one', 'one-polls', 'two', 'two-polls'].map((id) =>
        Worker.create({ connection, taskQueue: `${prefix}channel-${id}`, activities: channel }),
      ),
    ]);
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await Promise.all([connection.close(), clientConnection.close()]);
    };
  });
  afterAll(() => stop());

  async function start(of: Answers, channels = ['one']): Promise<WorkflowHandle> {
    const task = `task_${randomBytes(12).toString('hex')}`;
    answers.set(task, of);
    const input: TaskInput = {
      task,
      account: 'a',
      key: 'k',
      kind: 'video',
      model: 'm',
      candidates: channels.map((channel) => ({ channel, credential: 'a' })),
      hold: '1',
      overdraftLimit: '0',
      basis: { version: 'v', price: { unit: 'call', minimum: '0', rules: [] }, facts: {} },
      createdAt: Date.now(),
      admitBy: Date.now() + 10_000,
      deadlineAt: Date.now() + 3_600_000,
      expectedSeconds: 1,
      hasCallback: false,
      revision: 3,
    };
    return client.workflow.start('submitOnly', {
      workflowId: task,
      taskQueue: `${prefix}tasks`,
      args: [input],
    });
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
    await handle.signal('adopt', 'x');
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
