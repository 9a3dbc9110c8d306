import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { LedgerUnavailableError } from '../../../src/ledger/ledger-errors.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createReleaseDeadLeases } from '../../../src/images/leases/release-dead-leases.ts';
import { faulty, faultsInOrder } from '../../ledger/support.ts';
import { caller, type TestAccount } from '../../support/client.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { imageYaml, sendImages, startImageUpstream, whileMinutesPass } from '../support.ts';
import type { ImageUpstream } from '../support.ts';
import { loadsTypeScript } from '../../support/typescript.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let child: ChildProcess | undefined;
let dead = 0;

beforeAll(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
beforeEach(async () => {
  account = await gateway.account();
  upstream.answer = sendImages;
  upstream.calls.length = 0;
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await leases().deleteMany({});
});

const body = { model: 'gpt-image', prompt: 'a red cube' };
const leases = () => gateway.core.mongo.db.collection('image_leases');
async function lookTwice(apartMs: number): Promise<number> {
  let clock = 0;
  const look = createReleaseDeadLeases({
    ledger: gateway.core.ledger,
    log: gateway.core.log,
    leases: gateway.core.stores.imageLeases,
    now: () => clock,
    pause: async () => undefined,
  });
  expect((await look()).done).toBe(0);
  clock += apartMs;
  return (await look()).done;
}

async function startProcess(): Promise<string> {
  const script = fileURLToPath(new URL('../api-process.ts', import.meta.url));
  const started = spawn(process.execPath, [...loadsTypeScript, script], {
    env: { ...process.env, ...gateway.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  return new Promise((resolve, reject) => {
    started.once('exit', (code) => reject(new Error(`exited with ${code}`)));
    started.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()));
  });
}

it('a process has one lease, and removes it when it ends', async () => {
  const url = await startProcess();
  const call = caller(url, account.key);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => call('POST', '/v1/images/generations', { body })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const [lease, ...more] = await leases().find().toArray();
  expect(more).toEqual([]);
  const entries = await gateway.core.ledger.entries(account.id, { limit: 100 });
  const tasks = entries.flatMap(({ task }) => task ?? []);
  expect(new Set(tasks).size).toBe(5);
  for (const task of tasks) expect(task.startsWith(String(lease?._id))).toBe(true);
  child?.kill('SIGTERM');
  await expect.poll(() => leases().countDocuments({})).toBe(0);
});

it('a process that dies between hold and settle costs its caller nothing', async () => {
  const url = await startProcess();
  let arrived: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => (arrived = resolve));
  upstream.answer = () => arrived();
  const lost = caller(url, account.key)('POST', '/v1/images/generations', {
    body,
    headers: {
      'idempotency-key': 'k',
    },
  }).catch((error: unknown) => error);
  await sent;
  expect(await account.balance()).toMatchObject({ available: '99.750000', held: '0.250000' });
  child?.kill('SIGKILL');
  expect(await lost).toBeInstanceOf(Error);
  expect(await lookTwice(60_000)).toBe(0);
  expect(await account.balance()).toMatchObject({ held: '0.250000' });
  expect(await lookTwice(120_000)).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
  expect(await leases().countDocuments({})).toBe(0);
  // The outcome at the upstream is unknown, so a request with the same key never calls the upstream again.
  upstream.answer = sendImages;
  const repeat = { body, headers: { 'idempotency-key': 'k' } };
  const again = await whileMinutesPass(gateway, account.call('POST', '/v1/images/generations', repeat));
  expect([again.status, again.headers['x-should-retry']]).toEqual([500, 'false']);
  expect(upstream.calls).toHaveLength(1);
});

it('a response that a dead process had stored and charged is delivered to its caller', async () => {
  const key = { 'idempotency-key': 'k' };
  const first = await account.call('POST', '/v1/images/generations', { body, headers: key });
  await gateway.core.mongo.db.collection('idempotency').updateMany({}, { $set: { state: 'stored' } });
  const repeat = { body, headers: key };
  const again = await whileMinutesPass(gateway, account.call('POST', '/v1/images/generations', repeat));
  expect(again.body).toEqual(first.body);
  expect(upstream.calls).toHaveLength(1);
});

async function deadProcess(holds: readonly bigint[]): Promise<(n: number) => string> {
  const { imageLeases: store } = gateway.core.stores;
  const id = `img_000dead${String((dead += 1)).padStart(5, '0')}`;
  const image = (n: number): string => `${id}${n.toString(36).padStart(9, '0')}`;
  await store.insert({ id, process: 'test', from: image(1) });
  for (const [n, amount] of holds.entries()) {
    const hold = {
      account: account.id,
      task: image(n),
      by: { key: 'key_1', model: 'video-1' },
      amount,
      basis: '{}',
      overdraftLimit: 0n,
    };
    await gateway.core.ledger.hold(hold);
  }
  return image;
}

it('only the open holds of a dead process are closed', async () => {
  const image = await deadProcess([1n, 2n, 3n, 4n]);
  const closed = { account: account.id, task: image(2), held: 3n };
  await gateway.core.ledger.settle({ ...closed, amount: 7n });
  const others = {
    account: account.id,
    by: { key: 'key_1', model: 'video-1' },
    amount: 5n,
    basis: '{}',
    overdraftLimit: 0n,
  };
  await gateway.core.ledger.hold({ ...others, task: 'img_000dead99999000000001' });
  await gateway.core.ledger.hold({ ...others, task: 'task_1' });
  expect(await lookTwice(120_000)).toBe(2);
  // According to its lease, the process had finished everything before the second hold, so the first hold stays open.
  // The charge of 7 stays too.
  expect(await account.balance()).toMatchObject({ available: '99.999982', held: '0.000011' });
  expect(await leases().countDocuments({})).toBe(0);
  expect(await lookTwice(120_000)).toBe(0);
});

it('a charge is completed if only its first part was written when the process died', async () => {
  const image = await deadProcess([0n, 10n]);
  const { mongo, secrets, ledger } = gateway.core;
  const faults = faultsInOrder(['cut', ...Array.from({ length: 20 }, () => 'refused' as const)]);
  const dying = createLedger({
    collection: faulty(ledgerCollection(mongo.db), faults),
    key: secrets.deriveKey('ledger'),
    now: Date.now,
  });
  const charge = { account: account.id, task: image(1), held: 10n, amount: 25n };
  await expect(dying.settle(charge)).rejects.toThrow(LedgerUnavailableError);
  const kinds = async () => (await ledger.entriesOfTask(image(1))).map(({ kind }) => kind);
  expect(await kinds()).toEqual(['hold', 'settle']);
  expect(await lookTwice(120_000)).toBe(1);
  expect(await kinds()).toEqual(['hold', 'settle', 'charge_extra']);
  expect(await account.balance()).toMatchObject({ available: '99.999975', held: '0.000000' });
  expect(await leases().countDocuments({})).toBe(0);
});

it('delivered images whose charge could not be written are charged', async () => {
  const image = await deadProcess([0n, 80_000n]);
  const upstream = { model: 'image-1', channel: 'one', cost: 3n, unknown: 0 };
  const owed = { charge: 40_000n, basis: '{"by":"request"}', upstream };
  await gateway.core.stores.imageLeases.owe(image(1), owed);
  expect(await lookTwice(120_000)).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
  const entries = await gateway.core.ledger.entriesOfTask(image(1));
  const settle = entries.find(({ kind }) => kind === 'settle');
  expect([settle?.basis, settle?.upstream]).toEqual(['{"by":"request"}', upstream]);
  expect(await gateway.core.mongo.db.collection('image_charges_owed').countDocuments({})).toBe(0);
});

it('a process that died right after it wrote an owed charge leaves no debt', async () => {
  const image = await deadProcess([0n, 80_000n]);
  const upstream = { model: 'image-1', channel: 'one', cost: 3n, unknown: 0 };
  await gateway.core.stores.imageLeases.owe(image(1), { charge: 40_000n, basis: '{}', upstream });
  const charge = { account: account.id, task: image(1), held: 80_000n, amount: 40_000n, basis: '{}' };
  await gateway.core.ledger.settle({ ...charge, upstream });
  expect(await lookTwice(120_000)).toBe(0);
  expect(await gateway.core.mongo.db.collection('image_charges_owed').countDocuments({})).toBe(0);
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
});

it('a lease of a process without holds is removed without a trace', async () => {
  await deadProcess([]);
  expect(await lookTwice(120_000)).toBe(0);
  expect(await leases().countDocuments({})).toBe(0);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});
