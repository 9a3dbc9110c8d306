import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type RunningApi } from '../../src/api.ts';
import { readClip } from '../../workshop/simulator/media/clips.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { caller, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, videoBody, type TestGateway } from '../support/gateway.ts';

const clip = readClip('16x9');
let gateway: TestGateway;
let second: RunningApi;
let account: TestAccount;
let directory: string;
let video = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-files-'));
  const port = await choosePort('any', 'the test gateway');
  gateway = await startGateway({
    yaml: testYaml.replace('currency: USD\n', 'currency: USD\nresults: { storage: directory }\n'),
    // Requests to this machine are forbidden, so the gateway must read its own files directly.
    environment: { DATA_DIR: directory, PORT: String(port), MEDIA_ALLOW_PRIVATE_NETWORKS: '' },
  });
  const { core } = gateway;
  second = await startApi({ ...core, environment: { ...core.environment, PORT: 0 } });
  account = await gateway.account();
  video = await upload(second.url);
});
afterAll(async () => {
  await second.stop();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const inputs = (ids: readonly string[]) => ({ videos: ids.map((id) => `asset://${id}`) });
const held = (seconds: number): string => {
  const tokens = Math.floor((921_600 * (24 * (5 + seconds) + 1)) / 1024);
  return (Math.round(tokens * 4.3) / 1e6).toFixed(6);
};

it('are held for by their own length, and reach the upstream as a link that works without a key', async () => {
  const body = { ...inputs([video]), prompt: 'a fox [sim:missing-usage]' };
  const created = await account.create(body);
  expect(created.status).toBe(200);
  expect(created.body.warnings).toBeUndefined();
  expect(created.headers['x-mediary-hold']).toContain(held(5));
  const { request } = (await gateway.core.stores.requests.find(created.body.id)) ?? {};
  const [link = ''] = request?.kind === 'video' ? request.videos : [];
  expect(link).toMatch(new RegExp(`^${gateway.url}/media/${video}/0\\.mp4\\?expires=`));
  expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(clip);
  // If the upstream does not report the length, the task is charged for the length that the hold assumed.
  expect((await account.finished(created.body.id))['charge']).toBe(held(5));
});

it('are estimated as they are held', async () => {
  const { body } = await caller(second.url, account.key)('POST', '/v1/videos/generations/estimate', {
    body: { ...videoBody, ...inputs([video, video]) },
  });
  expect([body.hold, body.warnings, body.explanation.hold.input_seconds]).toEqual([held(10), [], 10]);
});

it('are held for as the longest and named in a warning if they cannot be read', async () => {
  const created = await account.create({ videos: ['https://media.example/a.mp4'] });
  expect(created.body.warnings).toEqual([expect.stringMatching(/^videos\[0\]: the length /)]);
  expect(created.headers['x-mediary-hold']).toContain(held(15));
  await account.finished(created.body.id);
});

describe('are refused', () => {
  it.each<[string, () => Promise<Record<string, unknown>>, string]>([
    ['where another account names them', () => Promise.resolve(inputs([video])), 'videos[0]'],
    ['where they are of another kind', () => Promise.resolve({ image: `asset://${video}` }), 'image'],
    ['where there is none', () => Promise.resolve(inputs([`file_${'0'.repeat(24)}`])), 'videos[0]'],
  ])('%s', async (name, fields, param) => {
    const by = name.includes('another account') ? await gateway.account() : account;
    const { status, body } = await by.create(await fields());
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_parameter', param]);
    expect((await by.balance()).held).toBe('0.000000');
  });
});

it('a repeat with the same key gets the same task, although the file has been deleted by then', async () => {
  const headers = { 'idempotency-key': 'a-file-that-goes' };
  const id = await upload(gateway.url);
  const first = await account.create(inputs([id]), headers);
  await account.finished(first.body.id);
  expect((await account.call('DELETE', `/v1/files/${id}`)).status).toBe(200);
  const again = await account.create(inputs([id]), headers);
  expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  expect(again.headers['idempotency-replayed']).toBe('true');
});

it('are deleted with their bytes when they expire', async () => {
  expect(await filesBelow()).toContain(video);
  gateway.clock.aheadMs += 31 * 86_400_000;
  await gateway.reconcile();
  expect(await filesBelow()).not.toContain(video);
  expect(await gateway.core.stores.files.bytesOf(account.id, 0)).toBe(0);
});

async function upload(url: string): Promise<string> {
  const form = new FormData();
  form.append('purpose', 'user_data');
  form.append('file', new File([clip], 'boat.mp4'));
  const headers = { authorization: `Bearer ${account.key}` };
  const stored = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form });
  return ((await stored.json()) as { readonly id: string }).id;
}

async function filesBelow(): Promise<string[]> {
  return (await readdir(join(directory, 'results'), { recursive: true })).flatMap((path) => path.split('/'));
}
