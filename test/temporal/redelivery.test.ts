import { expect, it } from 'vitest';
import { createRedelivery } from '../../src/temporal/redelivery.ts';
import { newInput, openTemporal } from './support.ts';

const world = openTemporal();
const redeliver = createRedelivery(world.client, world.queuePrefix, { replaces: false });

it('runs one delivery per task at a time, and another one after it has ended', async () => {
  const { task } = newInput();
  const handle = world.client.workflow.getHandle(`redeliver-${task}`);
  await Promise.all([redeliver(task), redeliver(task)]);
  const first = await handle.describe();
  expect(first.taskQueue).toBe(`${world.queuePrefix}tasks`);
  await redeliver(task);
  expect((await handle.describe()).runId).toBe(first.runId);
  await handle.terminate();
  await redeliver(task);
  const second = await handle.describe();
  expect([second.status.name, second.runId === first.runId]).toEqual(['RUNNING', false]);
  await handle.terminate();
});

it('a redelivery on demand replaces one that waits for its next attempt', async () => {
  const { task } = newInput();
  const handle = world.client.workflow.getHandle(`redeliver-${task}`);
  await redeliver(task);
  const first = await handle.describe();
  await createRedelivery(world.client, world.queuePrefix, { replaces: true })(task);
  const second = await handle.describe();
  expect([second.status.name, second.runId === first.runId]).toEqual(['RUNNING', false]);
  await handle.terminate();
});
