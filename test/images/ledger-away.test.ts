import { afterEach, beforeEach, expect, it } from 'vitest';
import { createReleaseDeadLeases } from '../../src/images/leases/release-dead-leases.ts';
import { LedgerUnavailableError } from '../../src/ledger/ledger-errors.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { imageYaml, pixel, refuse, startImageUpstream, type ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeEach(async () => {
  upstream = await startImageUpstream();
  const limits = 'limits: { concurrent_tasks: 2 }';
  const yaml = imageYaml({ first: upstream.url }).replace('priority: 10', limits);
  gateway = await startGateway({ yaml, worker: false });
  account = await gateway.account();
});
afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

function breakLedger(method: 'settle' | 'release', times = Infinity): () => void {
  const ledger = gateway.core.ledger as unknown as Record<string, (request: unknown) => Promise<unknown>>;
  const real = ledger[method]?.bind(ledger);
  let left = times;
  ledger[method] = async (request) => {
    if (left === 0) return real?.(request);
    left -= 1;
    throw new LedgerUnavailableError('away', undefined);
  };
  return () => (left = 0);
}

const generate = () =>
  account.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image', prompt: 'a red cube', n: 2 },
  });
const owed = () => gateway.core.mongo.db.collection('image_charges_owed');

async function heldAfterReconciling(): Promise<bigint> {
  const { ledger, log, stores } = gateway.core;
  let clock = 0;
  const look = createReleaseDeadLeases({
    ledger,
    log,
    leases: stores.imageLeases,
    now: () => clock,
    pause: async () => undefined,
  });
  await look();
  clock += 120_000;
  await look();
  return (await ledger.balance(account.id)).held;
}

it('a short outage is not noticed', async () => {
  breakLedger('settle', 2);
  expect((await generate()).status).toBe(200);
  expect(await account.balance()).toMatchObject({ available: '99.920000', held: '0.000000' });
});

it('images are delivered to their caller, and the charge follows later', async () => {
  const returns = breakLedger('settle');
  const answer = await generate();
  expect(answer.body.data[0].b64_json).toBe(pixel.toString('base64'));
  expect(await account.balance()).toMatchObject({ held: '0.500000' });
  await expect.poll(() => owed().findOne({})).toMatchObject({ charge: 80_000n });
  returns();
  await expect.poll(() => account.balance()).toMatchObject({ available: '99.920000', held: '0.000000' });
  await expect.poll(() => owed().countDocuments({})).toBe(0);
});

it('a process that dies before the charge leaves it to the reconciler', async () => {
  const returns = breakLedger('settle');
  await generate();
  await expect.poll(() => owed().countDocuments({})).toBe(1);
  returns();
  await expect.poll(heldAfterReconciling).toBe(0n);
  expect(await account.balance()).toMatchObject({ available: '99.920000' });
});

it('images of a channel with few slots are delivered and charged, although a slot cannot be returned', async () => {
  let refused = 0;
  gateway.core.health.slots.release = () => {
    refused += 1;
    return Promise.reject(new Error('no answer'));
  };
  const answer = await generate();
  expect(refused).toBe(1);
  expect([answer.status, answer.body.data?.length]).toEqual([200, 2]);
  expect(await account.balance()).toMatchObject({ available: '99.920000', held: '0.000000' });
});

it('a hold that cannot be released causes no error, and is released later', async () => {
  upstream.answer = refuse(500, 'server_error', 'boom');
  breakLedger('release', 1);
  const answer = await generate();
  expect([answer.status, answer.headers['x-should-retry']]).toEqual([500, 'false']);
  expect(answer.body.error.code).toBe('provider_error');
  expect(await account.balance()).toMatchObject({ held: '0.500000' });
  await expect.poll(heldAfterReconciling).toBe(0n);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});
