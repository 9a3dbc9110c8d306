import { describe, expect, it } from 'vitest';
import { createWorkflowLookup } from '../../src/temporal/workflow-lookup.ts';
import { tasksQueue } from '../../src/base/queues.ts';
import { openTemporal } from './support.ts';

const world = openTemporal();
const lookup = createWorkflowLookup(world.client, world.queuePrefix);

async function all(ids: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const id of ids) found.push(id);
  return found.toSorted();
}

it('distinguishes running workflows from those that ended and those that never existed', async () => {
  const running = await world.start();
  const ended = await world.start();
  await world.client.workflow.getHandle(ended.task).terminate();
  expect(await lookup.isRunning(running.task)).toBe(true);
  expect(await lookup.isRunning(ended.task)).toBe(false);
  expect(await lookup.isRunning('task_none')).toBe(false);
  await expect.poll(() => all(lookup.running())).toEqual([running.task]);
});

it('sees no workflow of another gateway on the same Temporal', async () => {
  const other = createWorkflowLookup(world.client, `${world.queuePrefix}other-`);
  await world.start();
  await expect.poll(async () => (await all(lookup.running())).length).toBe(2);
  expect(await all(other.running())).toEqual([]);
});

describe('a workflow whose steps fail', () => {
  const failing = openTemporal();
  const found = createWorkflowLookup(failing.client, failing.queuePrefix);
  const { workflowService: service, options } = failing.client;
  const namespace = options.namespace;
  const poll = {
    namespace,
    identity: 'the test',
    taskQueue: { name: tasksQueue(failing.queuePrefix) },
  };
  const nextStep = () =>
    failing.client.withDeadline(Date.now() + 60_000, () => service.pollWorkflowTaskQueue(poll));

  it('is found after the second failure, until a step succeeds', async () => {
    const { task } = await failing.start();
    expect(await all(found.failing())).toEqual([]);
    for (let failures = 0; failures < 2; failures += 1) {
      const { taskToken } = await nextStep();
      await service.respondWorkflowTaskFailed({ namespace, taskToken, identity: 'the test' });
    }
    await expect.poll(() => all(found.failing())).toEqual([task]);
    expect(await all(lookup.failing())).toEqual([]);
    const { taskToken } = await nextStep();
    await service.respondWorkflowTaskCompleted({ namespace, taskToken, identity: 'the test' });
    await expect.poll(() => all(found.failing())).toEqual([]);
  });
});
