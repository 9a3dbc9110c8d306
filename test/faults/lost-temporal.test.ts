import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startTemporal, type TestTemporal } from '../support/servers.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

let directory: string;
let temporal: TestTemporal;
let gateway: TestGateway;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-lost-temporal-'));
  temporal = await startTemporal({ dir: join(directory, 'temporal') });
  gateway = await startGateway({ environment: { TEMPORAL_ADDRESS: temporal.address } });
});
afterAll(async () => {
  await gateway?.stop();
  await temporal?.stop();
  await rm(directory, { recursive: true, force: true });
});

const reconciler = () =>
  gateway.core.client.schedule.getHandle(`${gateway.environment['TASK_QUEUE_PREFIX']}reconcile-tasks`);

it('a Temporal server that loses its data while workers run gets its schedule again, and the tasks end once', async () => {
  const account = await gateway.account();
  const prompts = Array.from({ length: 5 }, (_, n) => `lost-temporal-${n}.`);
  const ids: string[] = [];
  for (const prompt of prompts) {
    const { status, body } = await account.create({ prompt: `${prompt} [sim:render=3600]` });
    expect(status).toBe(200);
    ids.push(body.id);
  }
  const stateOf = async (id: string) => (await gateway.core.stores.tasks.find(id))?.state.at;
  for (const id of ids) await expect.poll(() => stateOf(id)).toBe('waiting');

  await temporal.kill();
  await rm(join(directory, 'temporal'), { recursive: true });
  await temporal.restart();
  // Nothing else restarts the workflows of these tasks.
  await expect.poll(() => reconciler().describe(), { timeout: 150_000 }).toMatchObject({ spec: {} });
  await reconciler().pause();
  await gateway.reconcile();
  expect(await gateway.reconcile()).toMatchObject({ repaired: ids.length, failed: 0 });
  gateway.simulator.advance(3600);
  for (const [n, id] of ids.entries()) {
    expect(await account.finished(id, 120_000)).toMatchObject({ status: 'succeeded' });
    expect(gateway.simulator.submissions(prompts[n] ?? '')).toEqual({ submits: 1, creates: 1 });
  }
  expect((await account.balance()).held).toBe('0.000000');
  await expectSoundLedger(gateway.core);
});
