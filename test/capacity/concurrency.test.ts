import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import { actOn, persevere, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';

const limit = 2;
const daySeconds = 86_400;
const yaml = testYaml.replace(
  'polls_per_second: 500 }',
  `polls_per_second: 500, concurrent_tasks: ${limit} }`,
);

function watchUpstream(simulator: TestGateway['simulator']) {
  let most = 0;
  let samples = 0;
  const timer = setInterval(() => {
    const busy = simulator.tasks().filter(({ phase }) => phase === 'queued' || phase === 'running');
    most = Math.max(most, busy.length);
    samples += 1;
  }, 10);
  return {
    stop() {
      clearInterval(timer);
      return { most, samples };
    },
  };
}

async function createMany(account: TestAccount, count: number, prompt: string): Promise<string[]> {
  const created = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const headers = { 'idempotency-key': randomUUID() };
      return persevere(() => account.create({ prompt: `${prompt} ${index}` }, headers));
    }),
  );
  for (const answer of created) expect(answer.status).toBe(200);
  return created.map(({ body }) => body.id);
}

describe('the concurrency limit of a credential', () => {
  let gateway: TestGateway;
  let secondCore: Core;
  let secondWorker: RunningWorker;
  beforeAll(async () => {
    gateway = await startGateway({ yaml, renderSeconds: 0.3 });
    const log = createLogger({ level: 'silent', format: 'json' });
    secondCore = await openCore(readEnvironment(gateway.environment), log);
    secondWorker = await startWorker(secondCore);
  });
  afterAll(async () => {
    await secondWorker.stop();
    await secondCore.close();
    await gateway.stop();
  });

  const tickets = (count: number) =>
    expect.poll(() => gateway.core.mongo.db.collection('slot_tickets').countDocuments()).toBe(count);
  const slots = (count: number) => expect.poll(() => gateway.core.stores.slots.held()).toHaveLength(count);

  it('applies across two workers, and alternates between a small account and the burst of a large one', async () => {
    const [large, small] = [await gateway.account(), await gateway.account()];
    const upstream = watchUpstream(gateway.simulator);
    gateway.simulator.setRenderSeconds(600);
    const burst = await createMany(large, 24, 'burst');
    await tickets(burst.length - limit);
    const few = await createMany(small, 4, 'few');
    await tickets(burst.length - limit + few.length);
    await expect.poll(() => gateway.simulator.tasks().length).toBe(limit);
    gateway.simulator.setRenderSeconds(0.3);
    gateway.simulator.advance(600);

    const finish = async (account: TestAccount, id: string): Promise<void> =>
      expect((await account.finished(id))['status']).toBe('succeeded');
    await Promise.all([...burst.map((id) => finish(large, id)), ...few.map((id) => finish(small, id))]);

    const { most, samples } = upstream.stop();
    const served = gateway.simulator.tasks().map(({ prompt }) => prompt);
    const lastOfSmall = served.findLastIndex((prompt) => prompt.startsWith('few'));
    expect(samples).toBeGreaterThan(100);
    expect(most).toBe(limit);
    // Accounts take turns. Once the two running tasks have finished, these four tasks therefore get every other slot.
    expect(lastOfSmall).toBeLessThan(16);
    await tickets(0);
    await slots(0);
  });

  it('shows a waiting task as pending, without history events for the wait', async () => {
    const account = await gateway.account();
    const first = await createMany(account, limit, '[sim:never-finishes] first');
    await slots(limit);
    const [waiting = ''] = await createMany(account, 1, 'waiting');
    await tickets(1);
    const seen = await account.call('GET', `/v1/videos/generations/${waiting}?wait=3`);
    expect(seen.body.status).toBe('pending');

    const history = await gateway.core.client.workflow.getHandle(waiting).fetchHistory();
    expect(history.events?.length).toBeLessThan(16);

    const cancelled = await account.call('POST', `/v1/videos/generations/${waiting}/cancel`);
    expect(cancelled.status).toBe(200);
    await tickets(0);
    for (const id of first) {
      await actOn(gateway.admin, id, { action: 'fail', reason: 'end of test' });
    }
    await slots(0);
  });

  it('gives the slot of a task whose workflow was terminated to the next one', async () => {
    const account = await gateway.account();
    const stuck = await createMany(account, limit, '[sim:never-finishes] stuck');
    await slots(limit);
    const [waiting = ''] = await createMany(account, 1, 'waiting');
    await tickets(1);
    for (const id of stuck) await gateway.core.client.workflow.getHandle(id).terminate('test');
    // The visibility store lags by about a second, so it may list one of the tasks before the other.
    let repaired = 0;
    const repair = async () => (repaired += (await gateway.reconcile()).repaired);
    await expect.poll(repair, { interval: 1_000 }).toBe(limit);
    expect((await account.finished(waiting))['status']).toBe('succeeded');
    await slots(0);
  });

  it('a key and a channel keep a task’s slot until the deadline that an operator has set', async () => {
    const [account, other] = [
      await gateway.account({ key: { concurrent_tasks: limit } }),
      await gateway.account(),
    ];
    const ids = await createMany(account, limit, '[sim:never-finishes] long');
    await slots(limit);
    for (const id of ids) {
      const extended = { action: 'extend', seconds: 2 * daySeconds, reason: 'a slow upstream' };
      expect((await gateway.admin('POST', `/admin/v1/tasks/${id}/actions`, extended)).status).toBe(200);
    }
    gateway.clock.aheadMs += 3 * daySeconds * 1000;
    const refused = await account.create({ prompt: 'one more' });
    expect(refused.body.error).toMatchObject({ code: 'concurrency_limit_exceeded' });
    const [waiting = ''] = await createMany(other, 1, 'behind them');
    await tickets(1);
    const held = await gateway.core.stores.slots.held();
    expect(held.map(({ task }) => task).toSorted()).toEqual(ids.toSorted());
    for (const id of [...ids, waiting]) {
      await actOn(gateway.admin, id, { action: 'fail', reason: 'end of test' });
    }
    await slots(0);
  });
});
