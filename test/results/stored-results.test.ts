import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { reachedBeforeDeadline } from '../support/before-deadline.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { refuseFirstCopy } from '../support/refuse-first-copy.ts';
import type { ResultCopy } from '../../src/store/result-copies.ts';
import type { TestAccount } from '../support/client.ts';

const yaml = testYaml.replace('currency: USD\n', 'currency: USD\nresults: { storage: directory }\n').replace(
  'channels:\n',
  `channels:
  - id: short-lived
    provider: replicate
    base_url: \${SIMULATOR_URL}/replicate/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models:
      short-lived:
        upstream: alibaba/wan-3-prime
        mapping: { fields: { prompt: prompt, duration: duration }, result: output }
`,
).concat(`  - id: short-lived
    kind: video
    input_types: [text_to_video]
    durations: { min: 2, max: 30, default: 5 }
    expected_seconds: 1
    price: { lines: [{ measure: second, price: "0.30" }] }
`);

describe('results in our own storage', () => {
  let gateway: TestGateway;
  let account: TestAccount;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-stored-'));
    const port = await choosePort('any', 'the test gateway');
    gateway = await startGateway({ yaml, environment: { DATA_DIR: directory, PORT: String(port) } });
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const reconcile = async (): Promise<any> =>
    gateway.core.client.workflow.execute('reconcileTasks', {
      workflowId: `reconcile-${Date.now()}`,
      taskQueue: `${gateway.environment['TASK_QUEUE_PREFIX']}tasks`,
      args: [],
    });

  async function copyOf(task: string): Promise<ResultCopy> {
    const copy = await gateway.core.stores.resultCopies.find(task);
    if (copy === undefined) throw new Error('there is no copy');
    return copy;
  }

  async function finishedTask(body: Record<string, unknown> = {}): Promise<Record<string, any>> {
    const created = await account.create(body);
    expect(created.status).toBe(200);
    return account.finished(created.body.id);
  }

  async function withFullStorage<Result>(work: () => Promise<Result>): Promise<Result> {
    const storage = gateway.core.results.kept?.storage;
    if (storage === undefined) throw new Error('results are not kept');
    const write = storage.write.bind(storage);
    storage.write = () => Promise.reject(new Error('no space left on device'));
    return work().finally(() => (storage.write = write));
  }

  it('exist when the task succeeds, in the callback as in GET, and are the rendered file', async () => {
    const receiver = await startCallbackReceiver();
    const task = await finishedTask({ metadata: { callback_url: receiver.url, return_last_frame: true } });
    expect(task['video_url']).toMatch(new RegExp(`^${gateway.url}/media/${task['id']}/0\\.mp4\\?expires=`));
    const [item] = task['data'];
    expect(item.expires_at).toBeGreaterThan(Date.now() / 1000 + 86_000);
    const video = await fetch(item.url);
    expect(video.headers.get('content-type')).toBe('video/mp4');
    expect(video.headers.get('x-content-type-options')).toBe('nosniff');
    const bytes = Buffer.from(await video.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    expect(video.headers.get('content-length')).toBe(String(bytes.length));
    const frame = await fetch(item.last_frame_url);
    expect(frame.headers.get('content-type')).toMatch(/^image\//);
    const files = (await readdir(directory, { recursive: true })).filter((path) => path.endsWith('.mp4'));
    expect(files).toHaveLength(1);
    expect((await readFile(join(directory, files[0] ?? ''))).equals(bytes)).toBe(true);

    await receiver.waitFor(1);
    const again = await account.call('GET', `/v1/videos/generations/${task['id']}`);
    expect(receiver.received[0]?.body).toEqual(again.body);
    await receiver.close();
  });

  it('are served in ranges, and without a body to clients that already have them', async () => {
    const { video_url: url } = await finishedTask();
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const get = (headers: Record<string, string>, method = 'GET') => fetch(url, { headers, method });
    const part = await get({ range: 'bytes=10-19' });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 10-19/${whole.length}`);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(10, 20))).toBe(true);
    const tail = await get({ range: 'bytes=-5' });
    expect(Buffer.from(await tail.arrayBuffer()).equals(whole.subarray(-5))).toBe(true);
    const open = await get({ range: `bytes=${whole.length - 3}-` });
    expect(Buffer.from(await open.arrayBuffer())).toHaveLength(3);
    const beyond = await get({ range: `bytes=${whole.length}-` });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get('content-range')).toBe(`bytes */${whole.length}`);
    expect((await get({ range: 'bytes=0-1,5-6' })).status).toBe(200);
    const etag = part.headers.get('etag') ?? '';
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    expect((await get({ range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    const head = await get({}, 'HEAD');
    expect(head.headers.get('content-length')).toBe(String(whole.length));
  });

  it('are available to anyone with the link', async () => {
    const { video_url, id } = await finishedTask();
    const url = new URL(video_url);
    const statusOf = async (change: (changed: URL) => void): Promise<number> => {
      const changed = new URL(url);
      change(changed);
      return (await fetch(changed)).status;
    };
    expect(await statusOf(() => undefined)).toBe(200);
    expect(await statusOf((changed) => changed.searchParams.delete('sig'))).toBe(404);
    expect(await statusOf((changed) => changed.searchParams.set('sig', 'AAAA'))).toBe(404);
    expect(await statusOf((changed) => changed.searchParams.set('expires', '99999999999'))).toBe(404);
    expect(await statusOf((changed) => (changed.pathname = `/media/${id}/1.mp4`))).toBe(404);
    expect(await statusOf((changed) => (changed.pathname = `/media/${id}/..%2f..%2flocal.json`))).toBe(404);
    expect(await statusOf((changed) => (changed.pathname = `/media/${id}/0.html`))).toBe(404);
  });

  it('whose link is refused are copied from a fresh one before the task succeeds', async () => {
    const task = await finishedTask({ prompt: '[sim:url-403*1] a link that has expired' });
    expect(task['status']).toBe('succeeded');
    expect(task['video_url']).toContain(`/media/${task['id']}/0.mp4`);
    expect((await fetch(task['video_url'])).status).toBe(200);
  });

  it('that our storage rejects keep the upstream’s link, and are copied later from a new one', async () => {
    const task = await withFullStorage(() => finishedTask());
    expect(task['status']).toBe('succeeded');
    expect(task['video_url']).toContain(gateway.environment['SIMULATOR_URL']);
    expect(await copyOf(task['id'])).toMatchObject({ state: 'retry', tries: 1 });
    await gateway.core.stores.resultCopies.write({ ...(await copyOf(task['id'])), dueAt: 0 });
    const report = await reconcile();
    const after = await account.call('GET', `/v1/videos/generations/${task['id']}`);
    expect(report.upkeep).toMatchObject({ copies: 1 });
    expect(after.body.video_url).toContain(`/media/${task['id']}/0.mp4`);
    expect((await fetch(after.body.video_url)).status).toBe(200);
  });

  it('are recorded as ours, although MongoDB was briefly unreachable after the copy', async () => {
    const { stores } = gateway.core;
    const { result: task, writes } = await refuseFirstCopy(stores, () => finishedTask());
    expect(writes).toBe(2);
    expect(task['video_url']).toContain(`/media/${task['id']}/0.mp4`);
    const copy = await stores.resultCopies.find(task['id']);
    expect(copy).toMatchObject({ state: 'stored', names: ['0.mp4'] });
  });

  it('that were copied later are found at the next check, if the process dies before it has recorded that', async () => {
    const task = await withFullStorage(() => finishedTask());
    const { tasks, resultCopies } = gateway.core.stores;
    const due = async () => resultCopies.write({ ...(await copyOf(task['id'])), dueAt: 0 });
    const replaceItems = tasks.replaceItems.bind(tasks);
    await due();
    tasks.replaceItems = () => Promise.reject(new Error('the process dies'));
    await reconcile();
    tasks.replaceItems = replaceItems;
    // The file must be stored, but its link must not have been published yet. Otherwise, this test proves nothing.
    expect((await readdir(directory, { recursive: true })).join()).toContain(`${task['id']}/0.mp4`);
    expect(await copyOf(task['id'])).toMatchObject({ state: 'retry' });
    await due();
    expect((await reconcile()).upkeep).toMatchObject({ copies: 1 });
    const { body } = await account.call('GET', `/v1/videos/generations/${task['id']}`);
    expect((await fetch(body.video_url)).status).toBe(200);
    expect(body.video_url).toContain(`/media/${task['id']}/0.mp4`);
    // If the process had died after it published the link, the copy's record would still say `retry`. The next check
    // corrects the record.
    const stored = await copyOf(task['id']);
    await resultCopies.write({ ...stored, state: 'retry', names: [], dueAt: 0 });
    await reconcile();
    expect(await copyOf(task['id'])).toMatchObject({ state: 'stored', names: ['0.mp4'] });
  });

  it('with links that callers cannot use are copied before the task succeeds, each attempt from a new link', async () => {
    const created = await account.create({
      model: 'short-lived',
      resolution: undefined,
      ratio: undefined,
      prompt: '[sim:url-403*1] gone at once',
    });
    expect(created.status).toBe(200);
    const task = await account.finished(created.body.id);
    expect(task['status']).toBe('succeeded');
    expect(task['video_url']).toContain(`/media/${task['id']}/0.mp4`);
    expect((await fetch(task['video_url'])).status).toBe(200);
    expect(await gateway.core.stores.resultCopies.find(task['id'])).toMatchObject({
      state: 'stored',
      tries: 1,
    });
  });

  it('that cannot be fetched at all are not charged: the task asks for an operator and ends at its deadline', async () => {
    const id = await reachedBeforeDeadline(account, {
      seconds: 12,
      body: () => ({
        model: 'short-lived',
        resolution: undefined,
        ratio: undefined,
        prompt: '[sim:url-403] never there',
      }),
      isReached: async (of) => (await gateway.core.stores.tasks.find(of))?.attention === 'poll_failing',
    });
    const task = await account.finished(id);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'task_expired' }, data: [] });
    const entries = await gateway.core.ledger.entriesOfTask(id);
    expect(entries.map(({ kind }) => kind)).toEqual(['hold', 'release']);
    // The retries must end eventually, but a poll that was in flight at the deadline may write once more, so poll.
    const afterRetry = async () => {
      const copy = await copyOf(id);
      await gateway.core.stores.resultCopies.write({ ...copy, state: 'retry', dueAt: 0 });
      await reconcile();
      return (await copyOf(id)).state;
    };
    await expect.poll(afterRetry).toBe('gave_up');
  });

  it('unreported facts are measured from the copy, shown, and charged', async () => {
    const task = await finishedTask({
      model: 'short-lived',
      duration: 7,
      resolution: undefined,
      ratio: undefined,
    });
    const record = await gateway.core.stores.tasks.find(task['id']);
    const facts = record?.outcome?.kind === 'succeeded' ? record.outcome.facts : undefined;
    expect(facts).toMatchObject({
      durationSeconds: 7,
      size: expect.stringMatching(/^\d+x\d+$/),
      measured: expect.arrayContaining(['duration', 'size']),
    });
    expect(task).toMatchObject({ duration: 7, size: facts?.size, charge: '2.100000' });
    const { body } = await gateway.admin('GET', `/admin/v1/tasks/${task['id']}/price`);
    expect(JSON.stringify(body)).toContain('"source":"measured"');
  });

  it('are deleted when they expire', async () => {
    const task = await finishedTask();
    await gateway.core.mongo.db
      .collection<{ _id: string }>('result_copies')
      .updateOne({ _id: task['id'] }, { $set: { dueAt: 0 } });
    expect((await reconcile()).upkeep).toMatchObject({ retention: 1 });
    expect((await fetch(task['video_url'])).status).toBe(404);
    expect(await gateway.core.stores.resultCopies.find(task['id'])).toMatchObject({ state: 'expired' });
  });
});
