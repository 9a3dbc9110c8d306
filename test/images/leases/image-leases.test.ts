import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createCloseHold } from '../../../src/images/leases/close-hold.ts';
import { createImageLeases, type ImageLeases } from '../../../src/images/leases/image-leases.ts';
import { createReleaseDeadLeases } from '../../../src/images/leases/release-dead-leases.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { pauseFirstAt } from '../../support/race.ts';
import { laggingLedger } from '../../support/stale-reads.ts';
import type { TestAccount } from '../../support/client.ts';

let gateway: TestGateway;
let account: TestAccount;
let images: ImageLeases;
let nowMs: number;
const errors: unknown[] = [];

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  account = await gateway.account();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  nowMs = Date.now();
  errors.length = 0;
  images = processLeases();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const name of ['image_leases', 'image_charges_owed'])
    await gateway.core.mongo.db.collection(name).deleteMany({});
});

function processLeases(): ImageLeases {
  const { ledger, stores } = gateway.core;
  const leases = stores.imageLeases;
  return createImageLeases({
    leases,
    closeHold: createCloseHold({ leases, ledger }),
    process: 'test',
    now: () => nowMs,
    randomBytes,
    onError: (error) => errors.push(error),
  });
}

const collection = () =>
  gateway.core.mongo.db.collection<{ _id: string; from: string; beat: number }>('image_leases');

function openReconciler() {
  const { ledger, log, stores } = gateway.core;
  let clock = 0;
  const look = createReleaseDeadLeases({
    ledger,
    log,
    leases: stores.imageLeases,
    now: () => clock,
    pause: async () => undefined,
  });
  return async (afterMs: number): Promise<number> => {
    clock += afterMs;
    return (await look()).done;
  };
}

async function reconcile(): Promise<number> {
  const look = openReconciler();
  expect(await look(0)).toBe(0);
  return look(120_000);
}

const beat = async () => (await collection().findOne())?.beat;

async function pass(ms: number): Promise<void> {
  const stepMs = 15_000;
  for (let passed = 0; passed < ms; passed += stepMs) {
    nowMs += stepMs;
    const before = (await beat()) ?? 0;
    await vi.advanceTimersByTimeAsync(stepMs);
    await expect.poll(beat).toBe(before + 1);
  }
}

function hold(task: string) {
  return gateway.core.ledger.hold({
    account: account.id,
    task,
    by: { key: 'key_1', model: 'video-1' },
    amount: 1_000n,
    basis: '{}',
    overdraftLimit: 0n,
  });
}

it('a living process keeps its lease for hours, whatever it does', async () => {
  const slow = images.newImage();
  const watched = await images.watch(slow);
  await hold(slow);
  const look = openReconciler();
  for (let minutes = 0; minutes < 20; minutes += 2) {
    await pass(30_000);
    expect(await look(120_000)).toBe(0);
  }
  expect(await watched.confirm()).toBe(true);
  expect(await account.balance()).toMatchObject({ held: '0.001000' });
  expect(errors).toEqual([]);
});

it('the lease records the first image that the process may still be working on', async () => {
  const [first, second, third] = [images.newImage(), images.newImage(), images.newImage()];
  const early = await images.watch(first);
  await images.watch(second);
  await expect.poll(() => collection().findOne()).toMatchObject({ from: first });
  early.end();
  await pass(15_000);
  await expect.poll(() => collection().findOne()).toMatchObject({ from: second });
  expect(first < second && second < third).toBe(true);
});

it('an image whose hold comes long after its number is not overlooked', async () => {
  const late = images.newImage();
  (await images.watch(images.newImage())).end();
  await pass(15_000);
  await expect.poll(async () => (await collection().findOne())?.from !== late).toBe(true);
  await images.watch(late);
  await hold(late);
  expect(await collection().findOne()).toMatchObject({ from: late });
  nowMs += 120_000;
  expect(await reconcile()).toBe(1);
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});

it('a process that was suspended sends nothing under its old lease, and continues under a new one', async () => {
  const before = images.newImage();
  const watched = await images.watch(before);
  await hold(before);
  nowMs += 120_000;
  expect(await reconcile()).toBe(1);
  expect(await watched.confirm()).toBe(false);
  watched.abandon(account.id);
  const after = images.newImage();
  expect(after.slice(0, 16)).not.toBe(before.slice(0, 16));
  const again = await images.watch(after);
  expect(await again.confirm()).toBe(true);
  again.end();
  await images.stop();
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});

it('a late renewal of a dead lease does not revive it', async () => {
  const image = images.newImage();
  const watched = await images.watch(image);
  const lease = await collection().findOne();
  nowMs += 120_000;
  const paused = pauseFirstAt('lease.renew', lease?._id);
  const confirmed = watched.confirm();
  await paused.reached;
  await reconcile();
  paused.release();
  expect(await confirmed).toBe(false);
  expect(await collection().countDocuments()).toBe(0);
});

it.each([
  ['behind', -2 * 3_600_000],
  ['ahead', 2 * 3_600_000],
])('a process whose clock is hours %s loses nothing while it renews', async (_, offMs) => {
  nowMs += offMs;
  images = processLeases();
  const image = images.newImage();
  const watched = await images.watch(image);
  await hold(image);
  const look = openReconciler();
  for (const afterMs of [0, 75_000, 75_000]) {
    expect(await look(afterMs)).toBe(0);
    await pass(15_000);
  }
  expect(await watched.confirm()).toBe(true);
  expect(await account.balance()).toMatchObject({ held: '0.001000' });
});

it('no process is declared dead at the first check, nor within a minute and a half of a renewal', async () => {
  const image = images.newImage();
  await images.watch(image);
  await hold(image);
  const look = openReconciler();
  expect(await look(3_600_000)).toBe(0);
  expect(await look(89_000)).toBe(0);
  await pass(15_000);
  expect(await look(2_000)).toBe(0);
  expect(await look(89_000)).toBe(0);
  expect(await look(2_000)).toBe(1);
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});

it('a hold that could not be closed is closed by the running process', async () => {
  const [open, owing, never] = [images.newImage(), images.newImage(), images.newImage()];
  const upstream = { model: 'image-1', channel: 'one', cost: 3n, unknown: 0 };
  for (const image of [open, owing]) await hold(image);
  (await images.watch(open)).abandon(account.id);
  (await images.watch(never)).abandon(account.id);
  const delivered = await images.watch(owing);
  await delivered.owe({ charge: 400n, basis: '{}', upstream });
  delivered.abandon(account.id);
  await pass(45_000);
  expect(await account.balance()).toMatchObject({ held: '0.002000' });
  await pass(30_000);
  await expect.poll(() => account.balance()).toMatchObject({ available: '99.999600', held: '0.000000' });
  await expect.poll(() => gateway.core.mongo.db.collection('image_charges_owed').countDocuments()).toBe(0);
  expect(await hold(never)).toMatchObject({ ok: false, refused: 'voided' });
  await images.stop();
  expect(await collection().countDocuments()).toBe(0);
  expect(errors).toEqual([]);
});

it('images that were delivered are charged, although reads just after an election miss their hold', async () => {
  const { ledger, mongo, secrets, stores } = gateway.core;
  const image = images.newImage();
  const collection = await laggingLedger(mongo.db);
  await hold(image);
  const upstream = { model: 'image-1', channel: 'one', cost: 3n, unknown: 0 };
  await stores.imageLeases.owe(image, { charge: 400n, basis: '{}', upstream });
  const lagging = createLedger({ collection, key: secrets.deriveKey('ledger'), now: Date.now });
  const closeHold = createCloseHold({ leases: stores.imageLeases, ledger: lagging });
  expect(await closeHold(image, account.id)).toBe('settled');
  expect((await ledger.entriesOfTask(image)).map(({ kind }) => kind)).toEqual(['hold', 'settle']);
  expect(await account.balance()).toMatchObject({ available: '99.999600', held: '0.000000' });
});

it('a process that stops with open holds leaves its lease to the reconciler', async () => {
  const image = images.newImage();
  await images.watch(image);
  await hold(image);
  await images.stop();
  expect(await collection().countDocuments()).toBe(1);
  nowMs += 120_000;
  expect(await reconcile()).toBe(1);
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});
