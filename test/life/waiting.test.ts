import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderId } from '../../src/store/render-times.ts';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { testYamlWith } from '../support/test-yaml.ts';
import { pollingActivities } from '../../src/base/queues.ts';

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
const waitOf = async (id: string) => {
  const pending = (await describeTask(id)).raw.pendingActivities ?? [];
  return pending.find(({ activityId }) => pollingActivities.includes(activityId ?? ''));
};

const started = 2;

describe('a task that waits for its render', () => {
  it('costs Temporal hardly more if it renders for a long time', async () => {
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
    // On a busy machine, some steps are delayed and run again as regular activities, so compare the lowest counts.
    const fewest = async (ids: readonly string[]) => Math.min(...(await Promise.all(ids.map(transitionsOf))));
    // The timer adds two transitions, and the heartbeat of a long attempt adds one. Polls add none.
    expect(await fewest(slow)).toBeLessThanOrEqual((await fewest(quick)) + 4);
  });

  // This test must run alone. If other jobs got responses at the same time, a failure would be attributed to the job
  // and make it back off.
  it('is polled every few seconds while its upstream is unavailable, without a back-off of its own', async () => {
    const prompt = 'an outage [sim:render=2][sim:callback-never]';
    gateway.simulator.addFault({ match: { prompt: 'an outage' }, fault: 'poll:500' });
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await account.create({ prompt })).body.id);
    const saysSo = /the last (?:[89]|\d{2,}) failed .*, next in [1-5] s$/;
    for (const id of ids)
      await expect.poll(async () => (await waitOf(id))?.lastFailure?.message).toMatch(saysSo);
    gateway.simulator.clearFaults();
    for (const id of ids) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
  });

  it('is continued by the next worker at once when its own worker shuts down', async () => {
    const prompt = 'moved [sim:render=600][sim:callback-never]';
    const { body } = await account.create({ prompt });
    await waitUntil('an attempt stays', async () => (await waitOf(body.id))?.state === started);
    const stayed = (await waitOf(body.id))?.attempt ?? 0;
    await worker.stop();
    expect((await waitOf(body.id))?.attempt).toBeGreaterThan(stayed);
    worker = await startWorker(gateway.core);
    gateway.simulator.advance(600);
    expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
    expect(gateway.simulator.submissions('moved')).toMatchObject({ creates: 1 });
  });

  it('contributes its render time to the next ones', async () => {
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
