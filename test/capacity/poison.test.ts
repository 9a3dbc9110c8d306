import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { circuitRules } from '../../src/health/circuit-rules.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway({ renderSeconds: 0.5 });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

async function create(prompt: string): Promise<string> {
  const { status, body } = await account.create({ prompt });
  expect(status).toBe(200);
  return body.id;
}

const circuit = async () =>
  (await gateway.core.stores.circuits.list()).find(({ id }) => id === 'ark/a/seedance');

const submitted = () => gateway.simulator.submissions('poison').submits;

it('tasks that always fail do not delay others, and do not reopen the circuit', async () => {
  const poison: string[] = [];
  for (let n = 0; n < 3; n += 1) poison.push(await create(`[sim:create:503] poison-${n}`));
  await expect.poll(submitted, { interval: 500 }).toBeGreaterThan(circuitRules.throttled.tasks);
  expect(await circuit()).toBeUndefined();
  for (let n = 3; n < circuitRules.throttled.tasks; n += 1)
    poison.push(await create(`[sim:create:503] poison-${n}`));
  await expect.poll(async () => (await circuit())?.state, { interval: 500 }).toBe('open');
  expect([...((await circuit())?.failedTasks ?? [])].toSorted()).toEqual(poison.toSorted());
  const opened = await circuit();
  // By then, the cool-down would be over and the tasks back. If one of them were the probe, the cool-down would have
  // doubled.
  await sleep((opened?.until ?? 0) - Date.now() + 5_000);
  expect(await circuit()).toMatchObject({ state: 'open', until: opened?.until, coolDownMs: 10_000 });
  const innocent = [await create('innocent-0-end'), await create('innocent-1-end')];
  for (const id of innocent) expect((await account.finished(id))['status']).toBe('succeeded');
  await expect.poll(async () => (await circuit())?.state).toBe('closed');
  const before = submitted();
  await expect.poll(submitted, { interval: 500 }).toBeGreaterThan(before + 1);
  expect((await circuit())?.state).toBe('closed');
  expect((await account.finished(await create('innocent-2-end')))['status']).toBe('succeeded');
  for (const id of poison) {
    expect((await gateway.core.stores.tasks.find(id))?.status).toBe('pending');
    await account.call('POST', `/v1/videos/generations/${id}/cancel`);
  }
});
