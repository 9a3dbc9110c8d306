import { keyScopes } from '../../src/base/key-scope.ts';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onRacePoint } from '../../src/base/race-point.ts';
import { encodePng } from '../../workshop/simulator/media/images.ts';
import { startImageUpstream, type ImageUpstream } from '../images/support.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { actOn, caller } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

let gateway: TestGateway;
let upstream: ImageUpstream;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-deleted-'));
  upstream = await startImageUpstream();
  receiver = await startCallbackReceiver();
  const yaml = testYaml
    .replace(
      'currency: USD\n',
      'currency: USD\nresults: { storage: directory }\nretention: { tasks_days: 7 }\n',
    )
    .replace(
      '\nmodels:',
      `
  - id: pictures
    provider: openai
    base_url: ${upstream.url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { picture: { upstream: gpt-image-1.5 } }
models:
  - { id: picture, kind: image, n: { max: 4 }, price: { lines: [{ measure: image, price: "0.04" }] } }`,
    );
  gateway = await startGateway({ yaml, environment: { DATA_DIR: directory } });
});
afterAll(async () => {
  onRacePoint(undefined);
  await gateway.stop();
  await upstream.close();
  await receiver.close();
  await rm(directory, { recursive: true, force: true });
});

const admin: TestGateway['admin'] = (...args) => gateway.admin(...args);

async function liveAccount(id: string) {
  await admin('POST', '/accounts', { id, name: 'Canary Ltd' });
  await admin('POST', `/accounts/${id}/credits`, { amount: '10', reference: 'first' });
  const { body: key } = await admin('POST', '/keys', {
    account: id,
    name: 'canary-key',
    concurrent_tasks: 5,
    scopes: keyScopes,
  });
  const call = caller(gateway.url, key.key);
  const video = {
    model: 'seedance',
    prompt: 'a canary on a boat',
    duration: 5,
    resolution: '720p',
    metadata: { callback_url: `${receiver.url}&canary=1`, safety_identifier: 'user-17' },
  };
  const { body: made } = await call('POST', '/v1/videos/generations', { body: video });
  await expect
    .poll(async () => (await call('GET', `/v1/videos/generations/${made.id}?wait=5`)).body.status)
    .toBe('succeeded');
  const image = { model: 'picture', prompt: 'a canary in a cage' };
  for (const form of [{}, { response_format: 'url' }]) {
    const headers = { 'idempotency-key': `canary-${JSON.stringify(form).length}` };
    const { status } = await call('POST', '/v1/images/generations', { body: { ...image, ...form }, headers });
    expect(status).toBe(200);
  }
  const form = new FormData();
  const picture = encodePng({ width: 8, height: 8, tint: 0, marked: false });
  form.append('file', new File([new Uint8Array(picture)], 'canary.png'));
  const headers = { authorization: `Bearer ${String(key.key)}` };
  expect((await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers, body: form })).status).toBe(200);
  const users = [{ user: 'canary-user', day: '5' }];
  await admin('POST', `/accounts/${id}/end-user-caps`, { users, reason: 'canary asked' });
  const alert = { threshold: '1', url: 'https://canary.example/hooks', reason: 'canary asked' };
  await admin('POST', `/accounts/${id}/alert`, alert);
  await actOn(admin, made.id, { action: 'refund', amount: '0.1', reason: 'too short' });
  return { id, call, task: made.id as string };
}

async function traces(words: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const collection of await gateway.core.mongo.db.collections()) {
    for await (const document of collection.find()) {
      const text = JSON.stringify(document, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      if (words.some((word) => text.toLowerCase().includes(word.toLowerCase())))
        found.push(collection.collectionName);
    }
  }
  return [...new Set(found)].toSorted();
}

const files = async () =>
  (await readdir(join(directory, 'results'), { recursive: true })).filter(
    (name) => name.length > 2 && name !== '.parts',
  ).length;
const remove = (id: string, body: object = {}) =>
  admin('POST', `/accounts/${id}/delete`, { reason: 'asked to be forgotten', ...body });

it('only its ledger and the record of the deletion remain of a deleted account, whichever process dies in between', async () => {
  const { id, call, task } = await liveAccount('leaver');
  const before = await gateway.core.ledger.entries(id, { limit: 100 });
  expect(await traces(['canary'])).toEqual(['accounts', 'audit', 'keys']);
  await expect
    .poll(() => traces([task]))
    .toEqual(expect.arrayContaining(['exchanges', 'requests', 'result_copies', 'tasks']));
  expect(await files()).toBeGreaterThan(1);
  expect((await remove(id)).body.error.message).toContain('It is not closed.');

  await admin('POST', `/accounts/${id}/close`, { reason: 'canary left' });
  const plan = await remove(id, { dry_run: true });
  expect(plan.body).toEqual({
    object: 'account.deletion',
    account: id,
    begun: false,
    obstacles: [],
    removes: { keys: 1, tasks: 1 },
    keeps: { ledger_entries: before.length },
  });
  expect((await call('GET', '/v1/balance')).status).toBe(200);
  const [one, other] = await Promise.all([remove(id), remove(id)]);
  expect([one.status, other.status].toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect((await admin('POST', `/accounts/${id}/reopen`, { reason: 'x' })).status).toBe(409);

  await gateway.reconcile();
  expect((await admin('GET', `/tasks/${task}`)).status).toBe(200);
  gateway.clock.aheadMs += 20 * 60_000;
  for (const point of ['deletion.page', 'deletion.finishing'] as const) {
    onRacePoint((at) => (at === point ? Promise.reject(new Error('killed')) : undefined));
    expect((await gateway.reconcile()).upkeep['account_deletions']).toBe(0);
    onRacePoint(undefined);
    expect((await admin('GET', `/accounts/${id}`)).body.deletion.finished_at).toBeNull();
  }
  expect((await gateway.reconcile()).upkeep['account_deletions']).toBe(1);
  expect((await gateway.reconcile()).upkeep['account_deletions']).toBe(0);

  expect(await traces(['canary'])).toEqual([]);
  expect(await traces([task])).toEqual(['audit', 'ledger']);
  expect(await traces([`"${id}"`, `/${id}"`])).toEqual([
    'accounts',
    'audit',
    'ledger',
    'ledger_heads',
    'removal_marks',
  ]);
  expect(await files()).toBe(0);
  const bodies = gateway.core.mongo.db.collection('image_result_bodies');
  expect(await bodies.countDocuments()).toBe(0);
  expect((await call('GET', '/v1/balance')).status).toBe(401);
  expect(await gateway.core.ledger.entries(id, { limit: 100 })).toEqual(before);
  await expectSoundLedger(gateway.core);
  expect((await admin('GET', `/accounts/${id}`)).body).toMatchObject({
    name: '',
    changes: [],
    deletion: { by: 'admin', reason: 'asked to be forgotten', finished_at: expect.any(Number) },
  });
  const audit: Record<string, string>[] = (await admin('GET', '/audit?limit=100')).body.data;
  const explained = audit.filter(({ target, reason }) => target === id && reason !== '');
  expect(explained.map(({ action, outcome }) => `${action} ${outcome}`).toSorted()).toEqual([
    'accountDeleted done',
    'deleteAccount done',
    'deleteAccount refused',
    'deleteAccount refused',
  ]);
});

it('the reconciler removes everything whose configured time is over', async () => {
  const account = await gateway.account();
  const { id } = await account.finished((await account.create()).body.id);
  gateway.clock.aheadMs += 8 * 86_400_000;
  expect((await gateway.reconcile()).upkeep['task_retention']).toBe(1);
  expect((await account.call('GET', `/v1/videos/generations/${id}`)).status).toBe(404);
  await expectSoundLedger(gateway.core);
});
