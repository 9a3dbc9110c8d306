import { expect, it, onTestFinished } from 'vitest';
import { ensureReconcilerSchedule } from '../../src/temporal/reconciler-schedule.ts';
import { openTemporal } from './support.ts';

const world = openTemporal();

it('many workers that start at once create one schedule, for every five minutes, without overlapping runs', async () => {
  const handle = world.client.schedule.getHandle(`${world.queuePrefix}reconcile-tasks`);
  onTestFinished(() => handle.delete());
  const ensure = () => ensureReconcilerSchedule(world.client, world.queuePrefix);
  await Promise.all([ensure(), ensure(), ensure()]);
  const { spec, policies, action } = await handle.describe();
  expect(spec.intervals).toMatchObject([{ every: 300_000 }]);
  expect(policies.overlap).toBe('SKIP');
  expect(action).toMatchObject({ type: 'startWorkflow', taskQueue: `${world.queuePrefix}tasks` });
});
