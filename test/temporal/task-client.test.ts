import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTemporalClient } from '../../src/temporal/connection.ts';
import { createTaskClient } from '../../src/temporal/task-client.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { newInput, openTemporal } from './support.ts';

const world = openTemporal();

describe('start', () => {
  it('makes one workflow of many calls, with what operators search for', async () => {
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

  it('starts no second workflow of a task whose workflow has ended', async () => {
    const input = await world.start();
    const handle = world.client.workflow.getHandle(input.task);
    const { runId } = await handle.describe();
    await handle.terminate();
    await world.start(input);
    const after = await handle.describe();
    expect([after.runId, after.status.name]).toEqual([runId, 'TERMINATED']);
  });

  it('503 while Temporal is away', async () => {
    const client = createTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
    onTestFinished(() => client.connection.close());
    const away = createTaskClient({ client, queuePrefix: 'away-', now: Date.now });
    await expect(away.start(newInput())).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 5,
    });
  });
});

describe('of a task that is not there', () => {
  it('a cancellation and an action are a 409', async () => {
    await expect(world.port.cancel('task_none')).rejects.toMatchObject({ code: 'task_not_cancellable' });
    await expect(world.port.act('task_none', 'retry_now', { reason: 'r' })).rejects.toMatchObject({
      code: 'action_not_possible',
    });
  });

  it('a wake-up does nothing', async () => {
    await expect(world.port.wake('task_none')).resolves.toBeUndefined();
  });
});

it('a wake-up of a task that waits for nobody does nothing', async () => {
  const { task } = await world.start();
  await expect(world.port.wake(task)).resolves.toBeUndefined();
});

it('no call makes Node run hooks at every promise of the process', async () => {
  // In a process of its own: a worker in this one, of any test file, has hooked its promises.
  const script = fileURLToPath(new URL('hooked-promises.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script], {
    env: { ...process.env, TEMPORAL_ADDRESS: temporalAddress() },
  });
  expect(JSON.parse(stdout)).toEqual({ before: false, after: false });
});

it('an action that nobody has answered in time is not said to have done nothing', async () => {
  const { task } = await world.start();
  const unanswered = {
    code: 'service_unavailable',
    message: expect.stringContaining('What was asked for may still be done'),
  };
  await Promise.all([
    expect(world.port.act(task, 'fail', { reason: 'r' })).rejects.toMatchObject(unanswered),
    expect(world.port.cancel(task)).rejects.toMatchObject(unanswered),
  ]);
}, 120_000);

it('not ready while no worker polls', async () => {
  await expect(world.port.checkReady()).rejects.toThrow(
    `no worker polls the task queue ${world.queuePrefix}`,
  );
});
