import { expect, it } from 'vitest';
import { chargeAgain } from '../../../src/money/charge-again.ts';
import { chargeTask } from '../../../src/money/charge.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import type { TestAccount } from '../../support/client.ts';

const world = useHttpWorld('route_set_price_factors');
const estimate = '/v1/videos/generations/estimate';
const request = { model: 'clip', prompt: 'a lighthouse', duration: 5 };

async function set(account: { readonly id: string }, body: object) {
  const reply = await world.admin('POST', `/accounts/${account.id}/price-factors`, {
    reason: 'agreed',
    ...body,
  });
  world.clock.aheadMs += 5_000;
  return reply;
}

async function pricesFor(account: TestAccount) {
  const { body: asked } = await account.call('POST', estimate, { body: request });
  const { body: made } = await account.create(request);
  const basis = world.port.started.at(-1)?.basis;
  if (basis === undefined) throw new Error('nothing has started');
  const { body: receipt } = await account.call('GET', `/v1/videos/generations/${made.id}/receipt`);
  const { body: task } = await world.admin('GET', `/tasks/${made.id}/price`);
  const { body: explained } = await world.admin('POST', '/prices/explain', { key: account.keyId, request });
  const { body: model } = await account.call('GET', '/v1/models/clip');
  const { body: models } = await account.call('GET', '/v1/models');
  const facts = { durationSeconds: 5, resolution: '1080p' };
  const held = 10_000_000n;
  const charged = chargeTask('video', { basis, channel: 'one', facts, held });
  const again = chargeAgain({ basis, reckoning: charged.settlement, held });
  expect(again).toBe(charged.settlement.amount);
  return {
    holds: [asked.hold, receipt.payload.hold, task.hold.amount, explained.hold.amount],
    charge: charged.settlement.amount,
    steps: [asked.explanation.hold, receipt.payload.hold_reckoning, task.hold.how, explained.hold].map(
      ({ steps }) => steps.find(({ kind }: { kind: string }) => kind === 'factor')?.text,
    ),
    factors: [
      receipt.payload.basis.factor,
      model.pricing.factor,
      models.data.find(({ id }: { id: string }) => id === 'clip')?.pricing.factor,
    ],
  };
}

it('holds, estimates, explanations and receipts multiply by it; tasks in flight keep theirs', async () => {
  const account = await world.newAccount({ credit: '100' });
  const before = await pricesFor(account);
  expect(new Set(before.holds).size).toBe(1);
  expect(before).toMatchObject({ steps: Array(4).fill(undefined), factors: ['1', '1', '1'] });
  const inFlight = world.port.started.at(-1)?.basis;

  expect(
    (await set(account, { factor: '0.50', models: [{ model: 'plain', factor: '2' }] })).body,
  ).toMatchObject({
    price_factors: { factor: '0.5', models: [{ model: 'plain', factor: '2' }] },
    changes: [{}, { by: 'admin', action: 'price factors 1 → 0.5, plain 2', reason: 'agreed' }],
  });
  const half = await pricesFor(account);
  expect(half.charge).toBe(before.charge / 2n);
  const holds = before.holds.map((hold) => (Number(hold) / 2).toFixed(6));
  const words = '× 0.5, the account’s factor, rounded half up';
  expect(half).toMatchObject({ holds, steps: Array(4).fill(words), factors: ['0.5', '0.5', '0.5'] });
  expect(inFlight).not.toHaveProperty('factor');

  await set(account, { factor: '0.5', models: [{ model: 'clip', factor: '3' }] });
  expect((await pricesFor(account)).charge).toBe(before.charge * 3n);
  await set(account, { factor: '0' });
  expect(await pricesFor(account)).toMatchObject({ charge: 0n, factors: ['0', '0', '0'] });
  expect((await set(account, { factor: '1' })).body.price_factors).toBeNull();
  expect(await pricesFor(account)).toEqual(before);
});

it('a model that has left the configuration keeps its factor, or loses it', async () => {
  const account = await world.newAccount();
  const gone = { model: 'plain', factor: '2' };
  await set(account, { models: [gone] });
  world.configure((yaml) => yaml.replaceAll(/\bplain\b/g, 'successor'));
  try {
    const { status, body } = await set(account, { factor: '0.9', models: [gone] });
    expect([status, body.price_factors]).toEqual([200, { factor: '0.9', models: [gone] }]);
    expect((await set(account, { factor: '0.9' })).body.price_factors.models).toEqual([]);
    expect((await set(account, { models: [gone] })).body.error.param).toBe('models[0].model');
  } finally {
    world.configure();
  }
});

it('404, 400', async () => {
  const account = await world.newAccount();
  expect((await set({ id: 'none' }, {})).body.error.code).toBe('account_not_found');
  const refused = async (body: object) => (await set(account, body)).body.error.param;
  for (const factor of ['-1', '100.1', '0.1234567', 'half', ''])
    expect(await refused({ factor })).toBe('factor');
  expect(await refused({ models: [{ model: 'none', factor: '1' }] })).toBe('models[0].model');
  const twice = { model: 'clip', factor: '2' };
  expect(await refused({ models: [twice, twice] })).toBe('models[1].model');
  expect(await refused({ reason: '' })).toBe('reason');
});
