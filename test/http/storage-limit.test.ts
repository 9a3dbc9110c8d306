import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ worker: false, environment: { ACCOUNT_STORED_BYTES_MAX: '500000' } });
});
afterAll(() => gateway.stop());

const dayMs = 86_400_000;
const large = { metadata: { note: 'x'.repeat(300_000) } };
const keyed = (key: string) => ({ 'idempotency-key': key });

it('an account whose storage is full is refused until its data is deleted; other accounts are not', async () => {
  const [full, other] = [await gateway.account(), await gateway.account()];
  const first = await full.create(large, keyed('first'));
  expect([first.status, (await full.create(large)).status]).toEqual([200, 200]);
  const held = (await full.balance()).held;

  const refused = await full.create({}, keyed('late'));
  expect(refused.status).toBe(429);
  expect(refused.body.error).toMatchObject({ code: 'storage_quota_exceeded', type: 'rate_limit_error' });
  expect(refused.body.error.message).toMatch(
    / use 60\d{4} bytes, .* limit is 500000\. .* next deletion is on 20\d\d-/,
  );
  expect((await full.create({}, keyed('late'))).status).toBe(429);
  expect((await full.create(large, keyed('first'))).body.id).toBe(first.body.id);
  expect((await full.balance()).held).toBe(held);
  expect((await full.call('GET', '/v1/videos/generations')).body.data).toHaveLength(2);
  expect((await other.create(large)).status).toBe(200);

  gateway.clock.aheadMs += 40 * dayMs;
  expect((await full.create({}, keyed('late'))).status).toBe(200);
});

it('requests that were not created do not count', async () => {
  const poor = await gateway.account({ credit: '0' });
  for (let times = 0; times < 3; times += 1) expect((await poor.create(large)).status).toBe(402);
  expect((await poor.create()).status).toBe(402);
});
