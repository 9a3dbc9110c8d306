import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createReleaseDeadLeases } from '../../src/images/release-dead-leases.ts';
import { caller, startGateway } from '../support/gateway.ts';
import type { TestAccount, TestGateway } from '../support/gateway.ts';
import { imageYaml, sendImages, startImageUpstream } from './support.ts';
import type { ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let child: ChildProcess | undefined;

beforeEach(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
  account = await gateway.account();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await gateway.stop();
  await upstream.close();
});

const body = { model: 'gpt-image', prompt: 'a red cube' };
const leases = () => gateway.core.mongo.db.collection('leases');
const later = (ms: number) =>
  createReleaseDeadLeases({
    ledger: gateway.core.ledger,
    log: gateway.core.log,
    leases: gateway.core.stores.leases,
    now: () => Date.now() + ms,
  });

/** Another API process on the same database. */
async function startProcess(): Promise<string> {
  const script = fileURLToPath(new URL('api-process.ts', import.meta.url));
  const started = spawn(process.execPath, ['--import', 'tsx', script], {
    env: { ...process.env, ...gateway.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  return new Promise((resolve, reject) => {
    started.once('exit', (code) => reject(new Error(`exited with ${code}`)));
    started.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()));
  });
}

test('a process that dies between hold and settle costs its caller nothing', async () => {
  const url = await startProcess();
  let arrived: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => (arrived = resolve));
  upstream.answer = () => arrived();
  const lost = caller(url, account.key)('POST', '/v1/images/generations', body, {
    'idempotency-key': 'k',
  }).catch((error: unknown) => error);
  await sent;
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.040000' });
  child?.kill('SIGKILL');
  expect(await lost).toBeInstanceOf(Error);
  // While the lease runs, nobody touches the hold.
  expect(await later(0)()).toBe(0);
  expect(await account.balance()).toMatchObject({ held: '0.040000' });
  expect(await later(120_000)()).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
  expect(await leases().countDocuments({})).toBe(0);
  // Nobody knows what the upstream did: the same key never calls it again.
  await gateway.core.mongo.db
    .collection('image_results')
    .updateMany({}, { $set: { alive_until: Date.now() - 1 } });
  upstream.answer = sendImages;
  const again = await account.call('POST', '/v1/images/generations', body, { 'idempotency-key': 'k' });
  expect([again.status, again.headers.get('x-should-retry')]).toEqual([500, 'false']);
  expect(upstream.calls).toHaveLength(1);
});

test('what a dead process had kept and charged is given to its caller', async () => {
  const key = { 'idempotency-key': 'k' };
  const first = await account.call('POST', '/v1/images/generations', body, key);
  await gateway.core.mongo.db
    .collection('image_results')
    .updateMany({}, { $set: { state: 'stored', alive_until: Date.now() - 1 } });
  const again = await account.call('POST', '/v1/images/generations', body, key);
  expect(again.body).toEqual(first.body);
  expect(upstream.calls).toHaveLength(1);
});

test('a lease that was left although the hold is closed is only removed', async () => {
  await account.call('POST', '/v1/images/generations', body);
  const { body: ledger } = await gateway.admin('GET', `/admin/v1/accounts/${account.id}/ledger?limit=10`);
  const image = ledger.data.find((entry: { kind: string }) => entry.kind === 'hold').task;
  await expect.poll(() => leases().countDocuments({})).toBe(0);
  await gateway.core.stores.leases.insert({
    image,
    account: account.id,
    process: 'test',
    state: 'open',
    hold: 40_000n,
    expiresAt: 0,
  });
  expect(await later(0)()).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
});

test('delivered images whose charge could not be written are charged', async () => {
  const hold = { account: account.id, task: 'img_test', amount: 80_000n, basis: '{}', overdraftLimit: 0n };
  await gateway.core.ledger.hold(hold);
  const { leases: store } = gateway.core.stores;
  await store.insert({
    image: 'img_test',
    account: account.id,
    process: 'test',
    state: 'open',
    hold: 80_000n,
    expiresAt: 0,
  });
  await store.markDelivered('img_test', 40_000n);
  expect(await later(0)()).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
});

test('a lease whose hold was never taken goes without a trace', async () => {
  await gateway.core.stores.leases.insert({
    image: 'img_never',
    account: account.id,
    process: 'test',
    state: 'open',
    hold: 1n,
    expiresAt: 0,
  });
  expect(await later(0)()).toBe(1);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});
