import Replicate from 'replicate';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startWorker } from '../../src/worker.ts';
import { readClip } from '../../workshop/simulator/media/clips.ts';
import { openUploads } from '../../src/compose/upkeep.ts';
import { testRequest } from '../routing/support.ts';
import { postForm, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';

type Simulator = Awaited<ReturnType<typeof startSimulator>>;
let upstream: Simulator;
let gateway: TestGateway;
let second: Awaited<ReturnType<typeof startWorker>>;
let account: TestAccount;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uploads-'));
  upstream = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    apiKeys: ['first', 'second'],
    renderSeconds: 0.2,
  });
  gateway = await startGateway({
    yaml: yaml.replaceAll('UPSTREAM', upstream.url),
    environment: { DATA_DIR: directory, PUBLIC_URL: 'https://10.9.8.7' },
  });
  second = await startWorker(gateway.core);
  account = await gateway.account();
});
afterAll(async () => {
  await second.stop();
  await gateway.stop();
  await upstream.close();
  await rm(directory, { recursive: true, force: true });
});

const sdk = (auth: string) => new Replicate({ auth, baseUrl: `${upstream.url}/replicate/v1` });
const idsAt = async (auth: string): Promise<string[]> =>
  ((await sdk(auth).files.list()) as unknown as { results: { id: string }[] }).results.map(({ id }) => id);

async function store(): Promise<string> {
  const form = new FormData();
  form.append('file', new File([readClip('16x9')], 'boat.mp4'));
  return (await postForm(gateway.url, '/v1/files', { key: account.key, form })).body.id;
}

async function run(file: string, model = 'wan'): Promise<Record<string, unknown>> {
  const created = await account.create({ model, prompt: file, videos: [`asset://${file}`] });
  expect([created.status, created.body.error]).toEqual([200, undefined]);
  return account.finished(created.body.id);
}

/** Far longer than an upload needs, but well below the upload time limit. */
const patience = { timeout: 180_000 };
const uploads = (name: string) => upstream.control.tasks(name).map(({ id }) => id).length;

it('many simultaneous tasks in two workers share one upload', async () => {
  const before = await idsAt('first');
  const file = await store();
  const tasks = await Promise.all(Array.from({ length: 8 }, () => run(file)));
  for (const task of tasks) expect(task).toMatchObject({ status: 'succeeded' });
  const made = (await idsAt('first')).filter((id) => !before.includes(id));
  expect(made).toHaveLength(1);
  const { results } = await sdk('first').predictions.list();
  const inputs = results.map(({ input }) => JSON.stringify(input)).filter((text) => text.includes(file));
  expect(inputs).toHaveLength(8);
  for (const input of inputs) expect(input).toContain(`${upstream.url}/replicate/v1/files/${made[0]}`);
  expect(uploads(file)).toBe(8);
  expect(await sdk('first').files.get(made[0] ?? '')).toMatchObject({
    content_type: 'video/mp4',
    size: readClip('16x9').length,
  });
});

it('another credential gets its own copy', async () => {
  const file = await store();
  const [first, second] = [(await idsAt('first')).length, (await idsAt('second')).length];
  expect(await run(file)).toMatchObject({ status: 'succeeded' });
  expect(await run(file, 'wan-second')).toMatchObject({ status: 'succeeded' });
  expect([(await idsAt('first')).length, (await idsAt('second')).length]).toEqual([first + 1, second + 1]);
});

it('if it cannot be registered, the next channel is tried, and nothing was sent', async () => {
  const file = await store();
  const [first, other] = [(await idsAt('first')).length, (await idsAt('second')).length];
  upstream.control.addFault({ match: { path: '/files', method: 'POST' }, fault: 'media:503', times: 1 });
  expect(await run(file, 'wan-either')).toMatchObject({ status: 'succeeded' });
  expect(upstream.control.faults()).toMatchObject([{ left: 0 }]);
  upstream.control.clearFaults();
  expect([(await idsAt('first')).length, (await idsAt('second')).length]).toEqual([first, other + 1]);
  expect(upstream.control.submissions(file)).toEqual({ submits: 1, creates: 1 });
});

it('an upload whose process died is taken over', async () => {
  const file = await store();
  const before = await idsAt('first');
  const key = { file, channel: 'one', credential: 'a' };
  expect(await gateway.core.stores.fileUploads.claim(key, 'a dead process')).toEqual({ kind: 'ours' });
  const clock = setInterval(() => (gateway.clock.aheadMs += 160_000), 1_000);
  try {
    expect(await run(file)).toMatchObject({ status: 'succeeded' });
  } finally {
    clearInterval(clock);
  }
  expect((await idsAt('first')).filter((id) => !before.includes(id))).toHaveLength(1);
});

it('an upstream that only provides an upload address gets each file once', async () => {
  const file = await store();
  upstream.control.addFault({
    match: { path: '/v1/uploads', method: 'POST' },
    fault: 'media:slow=0.001',
    times: 9,
  });
  for (const task of await Promise.all([run(file, 'runway'), run(file, 'runway')]))
    expect(task).toMatchObject({ status: 'succeeded' });
  expect(upstream.control.faults()).toMatchObject([{ left: 8 }]);
  upstream.control.clearFaults();
});

describe('whose task is cancelled', () => {
  it('an upload is abandoned, and left to the next task', async () => {
    const file = await store();
    upstream.control.addFault({
      match: { path: '/files', method: 'POST' },
      fault: 'media:slow=600',
      times: 1,
    });
    const first = await account.create({ model: 'wan', prompt: file, videos: [`asset://${file}`] });
    await vi.waitFor(() => expect(upstream.control.faults()).toMatchObject([{ left: 0 }]), patience);
    expect((await account.call('POST', `/v1/videos/generations/${first.body.id}/cancel`)).status).toBe(200);
    const begun = gateway.core.mongo.db.collection('file_uploads');
    await vi.waitFor(async () => expect(await begun.countDocuments({ file })).toBe(0), patience);
    upstream.control.clearFaults();
    expect(await run(file)).toMatchObject({ status: 'succeeded' });
  });

  it('no task waits for the upload of another', async () => {
    const file = await store();
    const { fileUploads, files } = gateway.core.stores;
    const key = { file, channel: 'one', credential: 'a' };
    expect(await fileUploads.claim(key, 'another process')).toEqual({ kind: 'ours' });
    const { name, expiresAt } = (await files.find(file)) ?? { name: '', expiresAt: 0 };
    const link = gateway.core.results.kept?.links.until(file, name, Math.floor(expiresAt / 1000)) ?? '';
    const request = { ...testRequest, videos: [link] };
    const task = new AbortController();
    const registered = openUploads(gateway.core)?.register(request, key, task.signal);
    task.abort(new Error('the task was cancelled'));
    await expect(registered).rejects.toThrow();
    expect(await fileUploads.claim(key, 'a third')).toEqual({ kind: 'busy', owner: 'another process' });
    await fileUploads.abandon(key, 'another process');
  });
});

describe('at the upstream it is deleted', () => {
  it('together with the file', async () => {
    const file = await store();
    const before = await idsAt('first');
    await run(file);
    const made = (await idsAt('first')).filter((id) => !before.includes(id));
    expect(made).toHaveLength(1);
    expect((await account.call('DELETE', `/v1/files/${file}`)).status).toBe(200);
    await gateway.reconcile();
    expect(await idsAt('first')).not.toContain(made[0]);
  });

  it('later, if the upstream does not respond', async () => {
    const file = await store();
    const before = await idsAt('first');
    await run(file);
    const [made = ''] = (await idsAt('first')).filter((id) => !before.includes(id));
    await account.call('DELETE', `/v1/files/${file}`);
    upstream.control.addFault({ match: { path: '/files', method: 'DELETE' }, fault: 'media:503', times: 1 });
    await gateway.reconcile();
    expect(await idsAt('first')).toContain(made);
    gateway.clock.aheadMs += 600_000;
    await gateway.reconcile();
    expect(await idsAt('first')).not.toContain(made);
  });

  it('and before it expires there, it is registered once more', async () => {
    const file = await store();
    await run(file);
    const before = await idsAt('first');
    gateway.clock.aheadMs += 23.5 * 3_600_000;
    upstream.control.advance(25 * 3_600);
    expect(await run(file)).toMatchObject({ status: 'succeeded' });
    expect((await idsAt('first')).filter((id) => !before.includes(id))).toHaveLength(1);
  });
});

const channel = (id: string, key: string, priority = 0) => `
  - id: ${id}
    provider: replicate
    base_url: UPSTREAM/replicate/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    priority: ${priority}
    credentials: [{ id: a, api_key: ${key} }]
    limits: { submits_per_second: 100, polls_per_second: 100 }
    models:
      MODEL:
        upstream: bytedance/seedance-2.0
        mapping:
          fields: { prompt: prompt, duration: duration, resolution: resolution, ratio: aspect_ratio, videos: reference_videos }
          result: output`;
const video = `kind: video, expected_seconds: 1, input_types: [text_to_video, reference], durations: { min: 1, max: 10 }, resolutions: [720p], ratios: ["16:9"], inputs: { videos: { max: 3 } }, price: { lines: [{ measure: call, price: "0.1" }] }`;
const yaml = `
currency: USD
results: { storage: directory }
channels:${channel('one', 'first').replace('MODEL', 'wan')}${channel('two', 'second').replace('MODEL', 'wan-second')}${channel('three', 'first', 10).replace('MODEL', 'wan-either')}${channel('four', 'second').replace('MODEL', 'wan-either')}
  - id: runway
    provider: runway
    base_url: UPSTREAM/runway
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: first }]
    limits: { submits_per_second: 100, polls_per_second: 100 }
    models: { runway: { upstream: seedance2 } }
models:
  - { id: runway, ${video} }
  - { id: wan, ${video} }
  - { id: wan-second, ${video} }
  - { id: wan-either, ${video} }
`;
