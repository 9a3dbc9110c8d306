import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTemporalClient } from '../../src/temporal/connection.ts';
import { createActIds } from '../../src/access/act-ids.ts';
import { createTaskClient } from '../../src/temporal/task-client.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { findWaiting } from '../../src/temporal/waiting-activity.ts';
import { startSilentServer } from '../support/silent-server.ts';
import { newInput, openTemporal } from './support.ts';
import { loadsTypeScript } from '../support/typescript.ts';

const world = openTemporal();

describe('start', () => {
  it('creates one workflow for many calls, with everything that operators search for', async () => {
    const input = newInput();
    await Promise.all([1, 2, 3].map(() => world.start(input)));
    const { runId, searchAttributes, taskQueue } = await world.client.workflow
      .getHandle(input.task)
      .describe();
    expect(taskQueue).toBe(`${world.queuePrefix}tasks`);
    expect(searchAttributes).toMatchObject({
      MediaModel: ['clip'],
      MediaAccount: ['acc-1'],
      MediaStatus: ['open'],
      MediaChannel: ['one'],
    });
    await world.start(input);
    expect((await world.client.workflow.getHandle(input.task).describe()).runId).toBe(runId);
  });

  it('creates no second workflow for a task whose workflow has ended', async () => {
    const input = await world.start();
    const handle = world.client.workflow.getHandle(input.task);
    const { runId } = await handle.describe();
    await handle.terminate();
    await world.start(input);
    const after = await handle.describe();
    expect([after.runId, after.status.name]).toEqual([runId, 'TERMINATED']);
  });

  it('is a 503 while Temporal is unavailable', async () => {
    await expect(portAt('127.0.0.1:1').start(newInput())).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 5,
    });
  });

  it('gets a second attempt after a pause longer than its limit', async () => {
    const input = newInput();
    let [clock, tries] = [0, 0];
    const start = (...asked: Parameters<typeof world.client.workflow.start>) => {
      tries += 1;
      if (tries > 1) return world.client.workflow.start(...asked);
      clock += 60_000;
      return Promise.reject(Object.assign(new Error('late'), { code: 4, details: '', metadata: {} }));
    };
    const { queuePrefix } = world;
    const client = { workflow: { start } } as never;
    await createTaskClient({ client, queuePrefix, now: () => clock, newActId: () => '' }).start(input);
    const { status } = await world.client.workflow.getHandle(input.task).describe();
    expect([tries, status.name]).toEqual([2, 'RUNNING']);
  });
});

describe('what a task waits for', () => {
  const portOf = (now: () => number) =>
    createTaskClient({
      client: world.client,
      queuePrefix: world.queuePrefix,
      now,
      newActId: createActIds(Buffer.alloc(32)).newId,
    });

  it('is a worker, if none has taken its next step for too long', async () => {
    const begunAt = Date.now();
    const { task } = await world.start();
    expect(await portOf(() => begunAt).waiting(task)).toEqual({});
    const later = portOf(() => Date.now() + 11_000);
    expect(await later.waiting(task)).toEqual({ stall: 'no_worker' });
    expect(await later.waiting('task_none')).toBeUndefined();
  });

  it('is an operator, if one has paused its workflow or its activity', async () => {
    const answer = (described: object) => {
      const workflowService = { describeWorkflowExecution: () => Promise.resolve(described) };
      return findWaiting({ options: world.client.options, workflowService } as never, 'task_1', Date.now);
    };
    expect(await answer({ workflowExecutionInfo: { status: 8 } })).toEqual({ stall: 'paused' });
    expect(await answer({ pendingActivities: [{ activityId: 'submit', paused: true, attempt: 3 }] })).toEqual(
      { stall: 'paused', activity: 'submit' },
    );
    const untaken = { activityId: 'poll', state: 1, attempt: 1, scheduledTime: { seconds: 1 } };
    expect(await answer({ pendingActivities: [untaken] })).toEqual({ stall: 'no_worker', activity: 'poll' });
    expect(await answer({ pendingActivities: [{ ...untaken, attempt: 2 }] })).toEqual({ activity: 'poll' });
    expect(await answer({ pendingActivities: [{ ...untaken, state: 2 }] })).toEqual({ activity: 'poll' });
  });
});

it('a task cannot be paused, because it would miss its deadline', async () => {
  const { task } = await world.start();
  const { workflowService } = world.client;
  const pause = { namespace: 'default', workflowId: task, reason: 'a button', requestId: task };
  await expect(workflowService.pauseWorkflowExecution(pause)).rejects.toThrow(/pause/i);
  const settings = readFileSync(
    new URL('../../deploy/temporal/dynamic-config/production.yaml', import.meta.url),
    'utf8',
  );
  expect(parse(settings)['frontend.WorkflowPauseEnabled']).toEqual([{ value: false }]);
});

it('an act that meets a reset or a discarded step is repeated under its id', async () => {
  const { task } = await world.start();
  const asked: unknown[] = [];
  const crossing = {
    ...world.client.workflow.getHandle(task),
    executeUpdate(_: unknown, { updateId }: { readonly updateId: string }) {
      asked.push(updateId);
      const lost = new WorkflowNotFoundError('the update is not known', task, undefined);
      return asked.length === 1 ? Promise.reject(lost) : Promise.resolve({ did: { task: 'It failed.' } });
    },
  };
  const workflow = { getHandle: () => crossing };
  const port = createTaskClient({
    client: { options: world.client.options, workflow } as never,
    queuePrefix: world.queuePrefix,
    now: Date.now,
    newActId: createActIds(Buffer.alloc(32)).newId,
  });
  const act = { reason: 'r', by: 'ada' };
  expect(await port.act(task, 'fail', act)).toEqual({ did: { task: 'It failed.' } });
  expect(asked).toEqual([asked[0], asked[0]]);
  asked.length = 0;
  await world.client.workflow.getHandle(task).terminate();
  await expect(port.act(task, 'fail', act)).rejects.toMatchObject({ code: 'action_not_possible' });
});

it('an act that ended its task, and whose step was discarded, gets its response from the record', async () => {
  const { task } = await world.start();
  await world.client.workflow.getHandle(task).terminate();
  const asked: string[][] = [];
  const port = createTaskClient({
    client: world.client,
    queuePrefix: world.queuePrefix,
    now: Date.now,
    newActId: () => 'act-1',
    findAct: (...names) => {
      asked.push(names);
      return Promise.resolve({ detail: 'The task fails.' });
    },
  });
  const did = { task: 'The task fails.', money: '' };
  expect(await port.act(task, 'fail', { reason: 'r', by: 'ada' })).toEqual({ did });
  expect(asked).toEqual([[task, 'act-1']]);
});

describe('for a task that does not exist', () => {
  it('a cancellation and an action are a 409', async () => {
    await expect(world.port.cancel('task_none')).rejects.toMatchObject({ code: 'task_not_cancellable' });
    await expect(world.port.act('task_none', 'retry_now', { reason: 'r', by: 'ada' })).rejects.toMatchObject({
      code: 'action_not_possible',
    });
  });

  it('a wake-up does nothing', async () => {
    await expect(world.port.wake('task_none')).resolves.toBeUndefined();
  });
});

it('a wake-up of a task that does not wait does nothing', async () => {
  const { task } = await world.start();
  await expect(world.port.wake(task)).resolves.toBeUndefined();
});

it('no call makes Node run hooks at every promise of the process', async () => {
  // Use a separate process. In this one, a worker of another test file may have hooked the promises.
  const script = fileURLToPath(new URL('hooked-promises.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...loadsTypeScript, script], {
    env: { ...process.env, TEMPORAL_ADDRESS: temporalAddress() },
  });
  expect(JSON.parse(stdout)).toEqual({ before: false, after: false });
});

it('an action that times out is not reported as ineffective', async () => {
  const { task } = await world.start();
  const unanswered = {
    code: 'service_unavailable',
    message: expect.stringContaining('The request may still be carried out'),
  };
  await Promise.all([
    expect(world.port.act(task, 'fail', { reason: 'r', by: 'ada' })).rejects.toMatchObject(unanswered),
    expect(world.port.cancel(task)).rejects.toMatchObject(unanswered),
  ]);
});

it('a list that times out is not reported as possibly done', async () => {
  const { address } = await startSilentServer();
  await expect(portAt(address).search({ query: 'NeedsAttention = "a"', limit: 1 })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'The service is busy and did nothing. Try again shortly.',
  });
});

it('names the queues that no worker polls', async () => {
  const { queuePrefix } = world;
  expect(await world.port.unpolledQueues()).toEqual([`${queuePrefix}tasks`, `${queuePrefix}callbacks`]);
});

function portAt(address: string) {
  const client = createTemporalClient({ address, namespace: 'default' });
  onTestFinished(() => client.connection.close());
  const newActId = createActIds(Buffer.alloc(32)).newId;
  return createTaskClient({ client, queuePrefix: 'away-', now: Date.now, newActId });
}
