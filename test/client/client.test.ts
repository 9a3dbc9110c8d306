import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createClient, MediaryError, readCallback, type Client } from '../../src/client/client.ts';
import { readClip } from '../../workshop/simulator/media/clips.ts';
import { startLossyProxy } from '../../workshop/acceptance/lossy-proxy.ts';
import { contractYaml } from '../contract/same-interface.ts';
import { pixel } from '../images/support.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let account: TestAccount;
let client: Client;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-client-'));
  const yaml = contractYaml('http://127.0.0.1:1/v1');
  gateway = await startGateway({
    yaml: yaml.replace('currency: USD\n', 'currency: USD\nresults: { storage: directory }\n'),
    environment: { DATA_DIR: directory },
    renderSeconds: 0.5,
  });
  account = await gateway.account();
  client = createClient({ baseUrl: `${gateway.url}/v1/`, apiKey: account.key });
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const video = { model: 'seedance', prompt: 'a paper boat', duration: 5 } as const;

describe('the client', () => {
  it('creates a video, and waits for it', async () => {
    const { hold } = await client.videos.estimate(video);
    expect(Number(hold)).toBeGreaterThan(0);
    const { id } = await client.videos.create(video);
    const statuses: string[] = [];
    const task = await client.videos.wait(id, { onAnswer: ({ status }) => statuses.push(status) });
    expect(task).toMatchObject({ id, status: 'succeeded', video_url: expect.stringMatching(/^http/) });
    expect(statuses.at(-1)).toBe('succeeded');
    expect(await client.videos.get(id)).toEqual(task);
    const { data, has_more } = await client.videos.list({ limit: 1 });
    expect([data, has_more]).toEqual([[task], false]);
    expect((await client.videos.list({ after: id })).data).toEqual([]);
    expect((await client.models()).data.map((model) => model.id)).toContain('seedance');
    expect(await client.balance()).toMatchObject({ currency: 'USD' });
  });

  it('creates and edits images, synchronously or as a task', async () => {
    const image = { model: 'gpt-image', prompt: 'a red cube' };
    expect(Number((await client.images.estimate(image)).at_most)).toBeGreaterThan(0);
    expect(await client.images.create(image)).toMatchObject({ data: [{ b64_json: expect.any(String) }] });
    const file = new Blob([pixel], { type: 'image/png' });
    const edited = await client.images.edit({ ...image, image: [file, file], n: 1, quality: 'low' });
    expect(edited).toMatchObject({ data: [{ b64_json: expect.any(String) }] });
    const made = await client.images.create({ ...image, async: true });
    if (!('id' in made)) throw new Error('no task');
    expect(await client.images.wait(made.id)).toMatchObject({ status: 'succeeded', data: [{}] });
  });

  it('stores a file, and uses it in a request', async () => {
    const file = await client.files.create(new File([readClip('16x9')], 'boat.mp4'));
    expect(file).toMatchObject({ filename: 'boat.mp4', media: { type: 'video/mp4' } });
    expect((await client.files.list()).data).toEqual([file]);
    expect(await client.files.get(file.id)).toEqual(file);
    await client.files.delete(file.id);
    await expect(client.files.get(file.id)).rejects.toMatchObject({ code: 'file_not_found' });
    const unreachable = client.files.create({ url: 'ftp://a.example/b.mp4' });
    await expect(unreachable).rejects.toMatchObject({ status: 400, param: 'url' });
  });

  it('cancels, and stops waiting when its signal is aborted', async () => {
    const { id } = await client.videos.create({ ...video, prompt: 'a slow boat [sim:render=600]' });
    const stop = new AbortController();
    const waiting = client.videos.wait(id, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(await client.videos.cancel(id)).toMatchObject({ id });
    expect(await client.videos.wait(id)).toMatchObject({
      status: 'failed',
      error: { code: 'task_cancelled' },
    });
  });

  it('rejects with the gateway’s error', async () => {
    const refused = await client.videos.create({ ...video, model: 'none' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(MediaryError);
    expect(refused).toMatchObject({
      status: 400,
      code: 'model_not_found',
      param: 'model',
      message: expect.stringContaining('none'),
      requestId: expect.stringMatching(/./),
    });
  });

  it('repeats a create whose response was lost, and creates one task', async () => {
    const proxy = await startLossyProxy(gateway.url);
    onTestFinished(() => proxy.close());
    const url = proxy.lossyUrl();
    const prompt = 'a boat whose answer is lost';
    const { id } = await createClient({ baseUrl: url, apiKey: account.key }).videos.create({
      ...video,
      prompt,
    });
    expect(proxy.requests(url)).toBe(2);
    expect(await client.videos.wait(id)).toMatchObject({ status: 'succeeded' });
    expect(gateway.simulator.submissions(prompt)).toEqual({ submits: 1, creates: 1 });
  });
});

describe('a server that is in trouble', () => {
  type Answer = (request: IncomingMessage, response: ServerResponse) => void;

  async function serve(...answers: readonly Answer[]) {
    const seen: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      seen.push(request);
      answers[seen.length - 1]?.(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { seen, client: createClient({ baseUrl, apiKey: 'sk-x', retries: 2 }) };
  }
  const refuse =
    (status: number, headers: Record<string, string> = {}): Answer =>
    (_request, response) =>
      void response.writeHead(status, headers).end('<html>');
  const cut: Answer = (request) => void request.destroy();
  const text = '{"id":"task_1","status":"running"}';
  const cutInBody =
    (status: number): Answer =>
    (request, response) => {
      response.writeHead(status, { 'content-length': String(text.length) });
      response.write(text.slice(0, 9), () => request.destroy());
    };
  const later = new Date(Date.now() + 3_600_000).toUTCString();
  const serveTask: Answer = (_request, response) => void response.end(text);

  it('gets the request again, with the same key', async () => {
    const { seen, client: own } = await serve(cut, refuse(503, { 'retry-after': '1' }), serveTask);
    expect(await own.videos.create(video)).toMatchObject({ id: 'task_1' });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/.{20}/);
  });

  it.each([200, 400, 503])(
    'gets it again if the body of its response with status %d is cut off',
    async (status) => {
      const { seen, client: own } = await serve(cutInBody(status), serveTask);
      expect(await own.videos.create(video)).toMatchObject({ id: 'task_1' });
      expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
      expect(seen).toHaveLength(2);
    },
  );

  it('is not asked again for a response that a proxy has made', async () => {
    const { seen, client: own } = await serve(refuse(200), serveTask);
    await expect(own.videos.create(video)).rejects.toMatchObject({
      name: 'MediaryError',
      status: 200,
      code: '',
    });
    expect(seen).toHaveLength(1);
  });

  it('gets a request up to three times, but not a file twice', async () => {
    const three = await serve(refuse(502), refuse(502), refuse(502), serveTask);
    await expect(three.client.videos.get('a/b')).rejects.toMatchObject({ status: 502, code: '' });
    expect(three.seen.map(({ url }) => url)).toEqual(Array(3).fill('/v1/videos/generations/a%2Fb?wait=0'));
    const one = await serve(refuse(502), serveTask);
    await expect(one.client.files.create({ url: 'https://a.example/b' })).rejects.toMatchObject({
      status: 502,
    });
    expect(one.seen).toHaveLength(1);
  });

  it.each([
    ['a refusal', refuse(400)],
    ['an error that a repeat would not change', refuse(500, { 'x-should-retry': 'false' })],
    ['one that asks for more patience than a minute', refuse(503, { 'retry-after': '3600' })],
    ['one that asks for it with a date', refuse(503, { 'retry-after': later })],
  ])('%s is not repeated', async (_name, answer) => {
    const { seen, client: own } = await serve(answer, serveTask);
    await expect(own.videos.create(video)).rejects.toBeInstanceOf(MediaryError);
    expect(seen).toHaveLength(1);
  });
});

describe('a callback', () => {
  it('is accepted only if the gateway has signed it', async () => {
    const receiver = await startCallbackReceiver();
    onTestFinished(() => void receiver.close());
    const { id } = await client.videos.create({ ...video, metadata: { callback_url: receiver.url } });
    await receiver.waitFor(1);
    const [{ headers, text: body }]: any[] = receiver.received;
    const secret = account.webhookSecret;
    const task = await readCallback({ headers, body, secret });
    expect(task).toEqual(await client.videos.get(id));
    const bytes = new TextEncoder().encode(body);
    const rotated = { ...headers, 'webhook-signature': `v1,AAAA v2,x v1,%% ${headers['webhook-signature']}` };
    expect(await readCallback({ headers: new Headers(rotated), body: bytes, secret })).toEqual(task);
    const forged = [
      { headers, body: `${body} `, secret },
      { headers, body, secret: `whsec_${Buffer.alloc(32).toString('base64')}` },
      { headers, body, secret, now: Date.now() / 1000 + 301 },
      { headers: { ...headers, 'webhook-id': 'task_other' }, body, secret },
      { headers: {}, body, secret },
    ];
    for (const message of forged) expect(await readCallback(message)).toBeUndefined();
    await expect(readCallback({ headers, body, secret: 'whsec_%' })).rejects.toThrow(
      'The secret must be whsec_',
    );
  });
});
