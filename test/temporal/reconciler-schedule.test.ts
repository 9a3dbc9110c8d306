import { expect, it, onTestFinished } from 'vitest';
import { keepReconcilerSchedule } from '../../src/temporal/reconciler-schedule.ts';
import { openTemporal } from './support.ts';

const world = openTemporal();

const schedule = () => world.client.schedule.getHandle(`${world.queuePrefix}reconcile-tasks`);

async function keep(everyMs?: number) {
  const kept = await keepReconcilerSchedule(world.client, world.queuePrefix, {
    onError: (error) => expect.soft(error).toBeUndefined(),
    ...(everyMs === undefined ? {} : { everyMs }),
  });
  onTestFinished(() => kept.stop());
  return kept;
}

it('many workers that start at once create one schedule, for every five minutes, without overlapping runs', async () => {
  await Promise.all([keep(), keep(), keep()]);
  onTestFinished(() => schedule().delete());
  const { spec, policies, action } = await schedule().describe();
  expect(spec.intervals).toMatchObject([{ every: 300_000 }]);
  expect(policies.overlap).toBe('SKIP');
  expect(action).toMatchObject({ type: 'startWorkflow', taskQueue: `${world.queuePrefix}tasks` });
});

it('a running worker creates the schedule again if it is lost, and leaves a paused one paused', async () => {
  const kept = await keep(50);
  await schedule().delete();
  await expect.poll(() => schedule().describe()).toMatchObject({ state: { paused: false } });
  await schedule().pause();
  await kept.run();
  expect((await schedule().describe()).state.paused).toBe(true);
  await kept.stop();
  await schedule().delete();
});
