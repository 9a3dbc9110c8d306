import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Claim, FinishedTask, FinishTask, PollResult } from '../../activities/types.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { actionUpdate, cancelUpdate } from '../../workflows/messages.ts';
import { temporalAddress } from '../support/run-servers.ts';

/** A cancel that is asked of the upstream while its polling breaks: the test plays the activities. */
const prefix = `r${randomBytes(5).toString('hex')}-`;
const candidate = { channel: 'one', credential: 'a' };
const finished: FinishTask[] = [];
let polls = 0;
let client: Client;
let stop: () => Promise<void>;

function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}
const cancelAsked = signal();
const attentionRaised = signal();

const taskActivities = {
  claimTask: async (): Promise<Claim> => ({
    state: 'accepted',
    attempts: 1,
    job: { candidate, operation: { id: 'job' }, acceptedAt: Date.now() },
  }),
  finishTask: async (finish: FinishTask): Promise<FinishedTask> => {
    finished.push(finish);
    return { charge: '1' };
  },
  recordAction: async () => undefined,
  noteAttention: async (_task: string, reason?: string): Promise<void> => {
    if (reason === 'poll_failed') attentionRaised.give();
  },
};
const channelActivities = {
  poll: async (): Promise<PollResult> => {
    polls += 1;
    if (polls > 1) return { kind: 'succeeded', facts: {} };
    await cancelAsked.given;
    throw ApplicationFailure.nonRetryable('polling broke');
  },
  cancelUpstream: async (): Promise<'refused'> => {
    cancelAsked.give();
    await attentionRaised.given;
    return 'refused';
  },
};

beforeAll(async () => {
  const address = temporalAddress();
  const [connection, clientConnection, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    }),
  ]);
  client = new Client({ connection: clientConnection });
  const workers = await Promise.all([
    Worker.create({ connection, workflowBundle, taskQueue: `${prefix}tasks`, activities: taskActivities }),
    Worker.create({ connection, taskQueue: `${prefix}channel-one-polls`, activities: channelActivities }),
  ]);
  const running = workers.map((worker) => worker.run());
  stop = async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
    await Promise.all([connection.close(), clientConnection.close()]);
  };
});
afterAll(() => stop());

it('a cancel that the upstream refused stays refused when an operator is asked meanwhile', async () => {
  const task = `task_${randomBytes(12).toString('hex')}`;
  const input: TaskInput = {
    task,
    account: 'a',
    key: 'k',
    kind: 'video',
    model: 'm',
    candidates: [candidate],
    hold: '1',
    basis: { version: 'v', price: { unit: 'call', minimum: '0', rules: [] }, facts: {} },
    createdAt: Date.now(),
    deadlineAt: Date.now() + 3_600_000,
    expectedSeconds: 1,
    hasCallback: false,
    revision: 3,
  };
  const handle = await client.workflow.start('generationTask', {
    workflowId: task,
    taskQueue: `${prefix}tasks`,
    args: [input],
  });
  await expect.poll(() => polls, { timeout: 20_000 }).toBe(1);
  expect(await handle.executeUpdate(cancelUpdate)).toMatchObject({ cancelled: false });
  // It waits for the operator: the wish that was refused neither ends it now nor once the operator has decided.
  expect(finished).toEqual([]);
  const decision = { by: 'ada', reason: 'the channel works again' };
  const retry = handle.executeUpdate(actionUpdate('retry_now'), { args: [decision] });
  expect(await retry).toMatchObject({ task: 'The upstream is polled again.' });
  expect(await handle.result()).toEqual({ status: 'succeeded', charge: '1' });
  expect(polls).toBe(2);
});
