import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { whileRoom } from '../../src/errors/not-stored.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { createUpkeepFailureStore } from '../../src/store/upkeep-failures.ts';
import { imageYaml, pixel, png, sendImages, sendJson, startImageUpstream } from '../images/support.ts';
import type { ImageUpstream } from '../images/support.ts';
import { postForm, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { serve, startS3, type TestServer } from './support.ts';

let s3: Awaited<ReturnType<typeof startS3>>;
let valve: TestServer;
let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let refusals = 0;
let refused = 0;
const states = ['full', 'failing', 'unreachable'] as const;
let state: (typeof states)[number] = 'full';

/**
 * Forwards requests as long as files are accepted. Otherwise, it responds like a full MinIO, fails, or closes the
 * connection.
 */
function pass(from: IncomingMessage, response: ServerResponse): void {
  const isWrite = from.method === 'PUT' || from.method === 'POST';
  if (isWrite && refusals > 0) {
    refusals -= 1;
    refused += 1;
    from.resume();
    from.once('end', () => {
      if (state === 'unreachable') return void response.destroy();
      if (state === 'failing') return void response.writeHead(500).end();
      response.writeHead(507, { 'content-type': 'application/xml' });
      response.end(
        '<Error><Code>XMinioStorageFull</Code><Message>Storage backend is full.</Message></Error>',
      );
    });
    return;
  }
  const { pathname, search } = new URL(from.url ?? '/', s3.settings.endpoint);
  const { port } = new URL(s3.settings.endpoint ?? '');
  const { method, headers } = from;
  const onward = request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  from.pipe(onward);
}

beforeAll(async () => {
  [s3, upstream, valve] = await Promise.all([startS3(), startImageUpstream(), serve(pass)]);
  const settings = JSON.stringify({ ...s3.settings, endpoint: valve.url });
  gateway = await startGateway({
    yaml: `${imageYaml({ first: upstream.url })}results: { storage: s3, s3: ${settings} }\n`,
    environment: { PORT: String(await choosePort('any', 'the test gateway')) },
  });
  account = await gateway.account();
});
beforeEach(() => {
  upstream.calls.length = 0;
  [refusals, refused, state] = [0, 0, 'full'];
  gateway.clock.aheadMs += 10_000;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await Promise.all([valve.close(), s3.close()]);
});

const images = '/v1/images/generations';
const generate = (more: object) =>
  account.call('POST', images, { body: { model: 'gpt-image', prompt: 'a red cube', ...more } });

/** Stops the gateway's clock, so that the ten seconds do not pass while a busy machine is working. */
function stopClock(): { pass: (ms: number) => void; start: () => void } {
  const { clock } = gateway;
  let at = Date.now() + clock.aheadMs;
  const pass = (ms: number) => void (clock.stoppedAt = at += ms);
  pass(0);
  const start = () => {
    if (clock.stoppedAt !== undefined) clock.aheadMs = at - Date.now();
    clock.stoppedAt = undefined;
  };
  onTestFinished(start);
  return { pass, start };
}

async function upload() {
  const form = new FormData();
  form.append('file', new File([Uint8Array.from(png(3, 2))], 'cube.png'));
  return postForm(gateway.url, '/v1/files', { key: account.key, form });
}

const storedFiles = async () => (await account.call('GET', '/v1/files')).body.data.length;

async function finished(id: string): Promise<Record<string, any>> {
  for (;;) {
    const { body } = await account.call('GET', `${images}/${id}?wait=5`);
    if (body.status === 'succeeded' || body.status === 'failed') return body;
  }
}

function fillsWhileRendering(files: number): void {
  upstream.answer = (call, response) => {
    refusals = files;
    sendImages(call, response);
  };
}

describe.each(states)('a storage that is %s', (now) => {
  beforeEach(() => void (state = now));

  it('refuses an upload with 503, which may be repeated', async () => {
    refusals = Infinity;
    const before = await storedFiles();
    const { pass } = stopClock();
    const refused = await upload();
    expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable']);
    expect(refused.body.error.message).toContain(now === 'full' ? 'no room' : 'not responding');
    expect(refused.headers['retry-after']).toBe('60');
    expect(refused.headers['x-should-retry']).toBeUndefined();
    expect(await storedFiles()).toBe(before);
    await expect
      .poll(() => gateway.core.stores.upkeepFailures.list())
      .toContainEqual({ step: now === 'full' ? 'storage_full' : 'storage_away', count: 1 });
    expect((await generate({ response_format: 'url' })).status).toBe(503);
    expect((await generate({ async: true })).status).toBe(503);
    expect(upstream.calls).toEqual([]);
    refusals = 0;
    pass(10_000);
    expect((await upload()).status).toBe(200);
  });

  it('a rendered image is offered to the storage until it fits', async () => {
    fillsWhileRendering(7);
    const { status, body } = await generate({ response_format: 'url' });
    expect([status, refusals, upstream.calls.length]).toEqual([200, 0, 1]);
    const stored = await fetch(body.data[0].url);
    expect(Buffer.from(await stored.arrayBuffer()).equals(pixel)).toBe(true);
  });

  it('so is the image of a task', async () => {
    fillsWhileRendering(7);
    const { body } = await generate({ async: true });
    const task = await finished(body.id);
    expect([task['status'], task['charge'], refusals]).toEqual(['succeeded', '0.040000', 0]);
    expect(upstream.calls).toHaveLength(1);
    const [{ url }] = task['data'];
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(pixel)).toBe(true);
  });

  it('a result with a link is delivered with it, and copied once there is room, however long that takes', async () => {
    const { origin } = new URL(upstream.url);
    upstream.answer = (call, response) => {
      if (call.path.endsWith('.png')) return void response.end(pixel);
      refusals = Infinity;
      return sendJson(response, 200, { created: 1, data: [{ url: `${origin}/0.png` }] });
    };
    const created = await account.call('POST', images, {
      body: { model: 'dall-e', prompt: 'a red cube', async: true },
    });
    const { id } = created.body;
    expect((await finished(id))['data']).toMatchObject([{ url: `${origin}/0.png` }]);
    const { copier } = gateway.core.results.kept ?? {};
    const { pass } = stopClock();
    // There must be ten retries. A link that cannot be opened would have fewer.
    for (let tries = 0; tries < 10; tries += 1) {
      pass(5 * 60_000);
      expect(await copier?.retryDue()).toEqual({ done: 0, failed: 0 });
    }
    pass(5 * 60_000);
    expect((await upload()).status).toBe(503);
    const { length: opened } = upstream.calls;
    expect(await copier?.retryDue()).toEqual({ done: 0, failed: 0 });
    expect(upstream.calls).toHaveLength(opened);
    refusals = 0;
    pass(10_000);
    expect(await copier?.retryDue()).toEqual({ done: 1, failed: 0 });
    expect((await account.call('GET', `${images}/${id}`)).body.data[0].url).toContain(
      `${gateway.url}/media/`,
    );
  });
});

it.each([
  ['right', 0],
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
])(
  'a process whose clock is %s reports a full storage: nothing is rendered for ten seconds',
  async (_, ms) => {
    const { pass } = stopClock();
    pass(10_000);
    expect((await generate({ response_format: 'url' })).status).toBe(200);
    pass(3_000);
    upstream.calls.length = 0;
    const other = createUpkeepFailureStore(gateway.core.mongo.db, () => Date.now() + ms);
    await other.note({ step: 'storage_full', count: 1 });
    expect((await generate({ response_format: 'url' })).status).toBe(503);
    expect((await generate({ async: true })).status).toBe(503);
    expect(upstream.calls).toEqual([]);
    pass(20_000);
    expect((await generate({ response_format: 'url' })).status).toBe(200);
  },
);

it('while rendered images wait for an unavailable storage, no others are rendered', async () => {
  state = 'failing';
  fillsWhileRendering(Infinity);
  const { pass, start } = stopClock();
  const first = await generate({ async: true });
  await expect.poll(() => refused).toBeGreaterThan(3);
  let second = await generate({ async: true });
  expect(second.status).toBe(503);
  while (second.status === 503) {
    pass(10_000);
    second = await generate({ async: true });
  }
  await expect
    .poll(async () => (await gateway.core.stores.tasks.find(second.body.id))?.wait)
    .toMatchObject({ cause: 'storage' });
  expect(upstream.calls).toHaveLength(1);
  start();
  refusals = 0;
  upstream.answer = sendImages;
  for (const { body } of [first, second])
    expect(await finished(body.id)).toMatchObject({ status: 'succeeded' });
  expect(upstream.calls).toHaveLength(2);
});

it.skipIf(process.platform !== 'linux')('a full disk reports that as well', async () => {
  const writing = pipeline(Readable.from([png(3, 2)]), createWriteStream('/dev/full'));
  await expect(whileRoom(writing)).rejects.toMatchObject({
    code: 'service_unavailable',
    retryAfterSeconds: 60,
  });
});
