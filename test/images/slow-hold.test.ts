import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { imageYaml, refuse, startImageUpstream, type ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let other: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeEach(async () => {
  [upstream, other] = await Promise.all([startImageUpstream(), startImageUpstream()]);
  const yaml = imageYaml({ first: upstream.url, second: other.url });
  gateway = await startGateway({ yaml, worker: false });
  account = await gateway.account();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await gateway.stop();
  await Promise.all([upstream.close(), other.close()]);
});

async function standStill(): Promise<void> {
  const later = Date.now() + 120_000;
  vi.spyOn(Date, 'now').mockReturnValue(later);
  await gateway.core.mongo.db.collection('image_leases').updateMany({}, { $set: { dead: true } });
}

const body = { model: 'gpt-image', prompt: 'a red cube' };
const generate = () => account.call('POST', '/v1/images/generations', { body });

it('an image whose hold took longer than its process’s lease is not sent, and costs nothing', async () => {
  const { ledger } = gateway.core;
  const hold = ledger.hold.bind(ledger);
  vi.spyOn(ledger, 'hold').mockImplementation(async (request) => {
    const held = await hold(request);
    await standStill();
    return held;
  });
  expect((await generate()).status).toBe(503);
  expect(upstream.calls).toHaveLength(0);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});

it('an image whose process was suspended at its first channel is not sent to the next one', async () => {
  upstream.answer = async (...call) => {
    await standStill();
    refuse(429, 'rate_limit_exceeded', 'Slow down.')(...call);
  };
  expect((await generate()).status).toBe(503);
  expect([upstream.calls.length, other.calls.length]).toEqual([1, 0]);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});
