import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.ts';
import { startGateway, videoBody, videoCharge, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { startMongo, type TestMongo } from '../support/servers.ts';

let directory: string;
let mongo: TestMongo;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-frozen-'));
  mongo = await startMongo({ dir: directory });
  gateway = await startGateway({
    worker: false,
    watchesLog: true,
    environment: { MONGODB_URI: mongo.uri.replace(/\/(?=\?|$)/, '/frozen') },
  });
  account = await gateway.account();
});
afterAll(async () => {
  process.kill(mongo.pid, 'SIGCONT');
  await gateway.stop();
  await mongo.stop();
  await rm(directory, { recursive: true, force: true });
});

it('while MongoDB is frozen, a create fails in seconds, and leaves no hold', async () => {
  expect((await account.create()).status).toBe(200);
  process.kill(mongo.pid, 'SIGSTOP');
  const [known, unknown] = await Promise.all([
    account.call('POST', '/v1/videos/generations', { body: videoBody }),
    gateway.call('POST', '/v1/videos/generations', { key: `${account.key}x`, body: {} }),
  ]);
  process.kill(mongo.pid, 'SIGCONT');
  expect([known.status, known.body.error.code]).toEqual([503, 'service_unavailable']);
  expect(Number(known.headers['retry-after'])).toBeGreaterThan(0);
  expect([401, 503]).toContain(unknown.status);
  expect(gateway.logLines.join('\n')).toMatch(/MongoDB did not respond (?:in time|within \d+ ms)/iu);
  await waitUntil('the hold is given back', async () => {
    const { body } = await account.call('GET', '/v1/videos/generations');
    return body.data.length === 1 && (await account.balance()).held === videoCharge;
  });
  expect((await account.create()).status).toBe(200);
});
