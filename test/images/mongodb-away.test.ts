import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createReleaseDeadLeases } from '../../src/images/leases/release-dead-leases.ts';
import { startApi } from '../../src/api.ts';
import { caller, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startMongo, type TestMongo } from '../support/servers.ts';
import { imageYaml, pixel, sendImages, startImageUpstream, type ImageUpstream } from './support.ts';

/** MongoDB stops while an upstream renders, so only the API's memory knows what the delivered images cost. */

let directory: string;
let mongo: TestMongo;
let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-away-'));
  [mongo, upstream] = await Promise.all([startMongo({ dir: directory }), startImageUpstream()]);
  gateway = await startGateway({
    yaml: imageYaml({ first: upstream.url }),
    worker: false,
    environment: {
      MONGODB_URI: mongo.uri.replace(/\/(?=\?|$)/, '/away'),
      SHUTDOWN_GRACE_SECONDS: '60',
    },
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([mongo.stop(), upstream.close()]);
  await rm(directory, { recursive: true, force: true });
});

const leases = () => gateway.core.mongo.db.collection('image_leases');
const beat = async () => (await leases().findOne({}))?.['beat'];

/** A reconciler in another process. It reads as soon as MongoDB responds. Only `pass` advances its clock. */
function openReconciler(pause: () => Promise<unknown>) {
  const { ledger, log, stores } = gateway.core;
  let clock = 0;
  const run = createReleaseDeadLeases({ ledger, log, leases: stores.imageLeases, now: () => clock, pause });
  return { run, pass: (ms: number) => void (clock += ms) };
}

it('a running process charges what it delivered, however long MongoDB was unavailable', async () => {
  let known: unknown;
  const reconciler = openReconciler(async () => {
    await expect.poll(beat).not.toBe(known);
  });
  upstream.answer = async (call, response) => {
    known = await beat();
    expect(await reconciler.run()).toEqual({ done: 0, failed: 0 });
    await mongo.kill();
    sendImages(call, response);
  };
  const { status, body } = await account.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image', prompt: 'a red cube', n: 2 },
  });
  expect([status, body.data?.[0]?.b64_json]).toEqual([200, pixel.toString('base64')]);
  reconciler.pass(3_600_000);
  await mongo.restart();
  expect(await reconciler.run()).toEqual({ done: 0, failed: 0 });
  await expect.poll(() => account.balance()).toMatchObject({ available: '99.920000', held: '0.000000' });
  await expect.poll(() => gateway.core.mongo.db.collection('image_charges_owed').countDocuments()).toBe(0);
});

it('a process that is stopped meanwhile charges what it delivered, if MongoDB returns before the stop must end', async () => {
  const api = await startApi(gateway.core);
  const before = await gateway.core.ledger.balance(account.id);
  upstream.answer = async (call, response) => {
    await mongo.kill();
    sendImages(call, response);
  };
  const { status } = await caller(api.url)('POST', '/v1/images/generations', {
    key: account.key,
    body: { model: 'gpt-image', prompt: 'a blue cube' },
  });
  expect(status).toBe(200);
  const stopped = api.stop();
  await mongo.restart();
  await stopped;
  const owed = await gateway.core.mongo.db.collection('image_charges_owed').countDocuments();
  const isWritten = (await gateway.core.ledger.balance(account.id)).held === 0n;
  expect([owed === 1, isWritten]).toContain(true);
  await expect
    .poll(async () => before.available - (await gateway.core.ledger.balance(account.id)).available)
    .toBe(40_000n);
});

it.each([
  ['is away', 0, () => Promise.reject(new Error('no answer')), 'no answer'],
  ['stood still for a minute', 60_000, () => Promise.resolve(), undefined],
] as const)('nobody is dead to a reconciler for which MongoDB %s', async (_, stoodStillMs, read, failure) => {
  const id = 'img_000dead00000';
  await gateway.core.stores.imageLeases.insert({ id, process: 'dead', from: id });
  const { ledger, log, stores } = gateway.core;
  let clock = 0;
  const paused = { times: 0 };
  const run = createReleaseDeadLeases({
    ledger,
    log,
    leases: stores.imageLeases,
    now: () => clock,
    async pause() {
      paused.times += 1;
      if (paused.times < 5) return;
      clock += stoodStillMs;
      await read();
    },
  });
  await run();
  clock += 120_000;
  const ended = run().then(({ done }) => done);
  if (failure === undefined) expect(await ended).toBe(0);
  else await expect(ended).rejects.toThrow(failure);
  expect(paused.times).toBe(5);
  expect(await leases().findOne({ _id: id as never })).not.toHaveProperty('dead');
  await stores.imageLeases.remove(id);
});
