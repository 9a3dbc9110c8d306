import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderId } from '../../src/store/render-times.ts';
import { startWorker } from '../../src/worker.ts';
import type { RunningWorker } from '../../src/worker.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { testYamlWith } from '../support/test-yaml.ts';

/** Besides the usual model one that usually takes 40 s, so that a timer carries the first part of its wait. */
const yaml = testYamlWith('slow', 40);

let gateway: TestGateway;
let account: TestAccount;
let worker: RunningWorker;
beforeAll(async () => {
  gateway = await startGateway({ yaml, worker: false });
  worker = await startWorker(gateway.core);
  account = await gateway.account();
});
afterAll(async () => {
  await worker.stop();
  await gateway.stop();
});

const describeTask = (id: string) => gateway.core.client.workflow.getHandle(id).describe();
const transitionsOf = async (id: string) =>
  Number((await describeTask(id)).raw.workflowExecutionInfo?.stateTransitionCount ?? 0);
/** The submission waits for the end of its job, too. */
const waitOf = async (id: string) => {
  const pending = (await describeTask(id)).raw.pendingActivities ?? [];
  return pending.find(({ activityId }) => activityId === 'submit');
};

/** With a worker: not between two attempts. */
const started = 2;

describe('a task that waits for its render', () => {
  it('costs hardly more of Temporal when it renders for long', async () => {
    const createAll = async (body: Record<string, unknown>) => {
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) ids.push((await account.create(body)).body.id);
      return ids;
    };
    const quick = await createAll({ prompt: 'quick [sim:render=1][sim:callback-never]' });
    const slow = await createAll({ model: 'slow', prompt: 'slow [sim:render=3600][sim:callback-never]' });
    await waitUntil('the timer runs', async () => (await waitOf(slow[0] ?? ''))?.state === 1);
    for (const id of quick) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    const asked = () => gateway.simulator.stats().gets + gateway.simulator.stats().lists;
    const before = asked();
    await waitUntil('the upstream was asked often', async () => asked() > before + 8);
    gateway.simulator.advance(3600);
    for (const id of slow) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    // Of the best: a step that the machine was too busy for is repeated as a regular activity.
    const fewest = async (ids: readonly string[]) => Math.min(...(await Promise.all(ids.map(transitionsOf))));
    // Two for the timer, and one for a heartbeat of a stay that lasts longer than it may: none for a question.
    expect(await fewest(slow)).toBeLessThanOrEqual((await fewest(quick)) + 4);
  });

  // Alone: while jobs of others are answered, a failure is the job's own, and so is its back-off.
  it('is known about seconds after its upstream is back, not after a back-off of its own', async () => {
    const prompt = 'an outage [sim:render=2][sim:callback-never]';
    gateway.simulator.addFault({ match: { prompt: 'an outage' }, fault: 'poll:500' });
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await account.create({ prompt })).body.id);
    await new Promise((resolve) => setTimeout(resolve, 70_000));
    gateway.simulator.clearFaults();
    const back = Date.now();
    const lags = ids.map(async (id) => account.finished(id).then(() => Date.now() - back));
    // A task's own back-off would have begun to last a minute shortly before. One may be lost by the server for as long.
    const inTime = (await Promise.all(lags)).filter((lag) => lag < 40_000);
    expect(inTime.length).toBeGreaterThanOrEqual(4);
  });

  it('is continued by the next worker at once when the one that it stays in shuts down', async () => {
    const prompt = 'moved [sim:render=600][sim:callback-never]';
    const { body } = await account.create({ prompt });
    await waitUntil('an attempt stays', async () => (await waitOf(body.id))?.state === started);
    const before = Date.now();
    await worker.stop();
    // A stay lasts up to ten minutes, and submissions have their full time at a shutdown.
    expect(Date.now() - before).toBeLessThan(60_000);
    expect((await waitOf(body.id))?.state).not.toBe(started);
    worker = await startWorker(gateway.core);
    gateway.simulator.advance(600);
    expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
    expect(gateway.simulator.submissions('moved')).toMatchObject({ creates: 1 });
  });

  it('leaves its render time to the next ones', async () => {
    const kind = { channel: 'ark', model: 'seedance', output: '720p/5' };
    for (let n = 0; n < 5; n += 1) {
      const { body } = await account.create({ prompt: `sample ${n} [sim:render=1][sim:callback-never]` });
      await account.finished(body.id);
    }
    const stored = async () => {
      const records = await gateway.core.stores.renderTimes.list();
      return records.find(({ id }) => id === renderId(kind))?.samples.length ?? 0;
    };
    await waitUntil('they are stored', async () => (await stored()) >= 5);
    await gateway.core.renders.refresh();
    expect(gateway.core.renders.times(kind)?.samples).toBeGreaterThanOrEqual(5);
  });
});
