import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import type { TestGateway } from '../support/gateway.ts';
import { imageYaml, startImageUpstream } from './support.ts';
import type { ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeEach(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
  account = await gateway.account();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await gateway.stop();
  await upstream.close();
});

it('an image whose hold took longer than its process’s lease is not sent, and costs nothing', async () => {
  const { ledger, mongo } = gateway.core;
  const hold = ledger.hold.bind(ledger);
  vi.spyOn(ledger, 'hold').mockImplementation(async (request) => {
    const held = await hold(request);
    // This process stands still for two minutes, and a reconciler declares it dead.
    const later = Date.now() + 120_000;
    vi.spyOn(Date, 'now').mockReturnValue(later);
    await mongo.db.collection('image_leases').updateMany({}, { $set: { dead: true } });
    return held;
  });
  const body = { model: 'gpt-image', prompt: 'a red cube' };
  expect((await account.call('POST', '/v1/images/generations', { body })).status).toBe(503);
  expect(upstream.calls).toHaveLength(0);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});
