import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { createByteDance } from '@ai-sdk/bytedance';
import { createFalClient } from '@fal-ai/client';
import { OpenRouter } from '@openrouter/sdk';
import Replicate from 'replicate';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startLossyProxy, type Loss, type LossyProxy } from '../../workshop/acceptance/lossy-proxy.ts';
import { contractYaml } from '../contract/same-interface.ts';
import { png } from '../images/support.ts';
import { gate, pauseFirstAt } from '../support/race.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';

/** Clients repeat a POST automatically. If a response is lost, this must not cause a second image that is charged. */

let gateway: TestGateway;
let proxy: LossyProxy;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway({ yaml: contractYaml('http://127.0.0.1:1/v1') });
  proxy = await startLossyProxy(gateway.url);
  account = await gateway.account();
});
afterAll(async () => {
  await proxy.close();
  await gateway.stop();
});
afterEach(async () => {
  // A bad response opens the credential's circuit. This is recorded only after the response, so wait for it.
  await expect.poll(openCircuits).toEqual([]);
});

async function openCircuits(): Promise<string[]> {
  const { health, mongo, stores } = gateway.core;
  await mongo.db.collection('channel_health').deleteMany({});
  await health.circuits.refresh();
  return (await stores.circuits.list()).map(({ id }) => id);
}

const lossyV1 = (loss?: Loss) => `${proxy.lossyUrl(loss)}/v1`;
const requestsTo = (url: string) => proxy.requests(url.replace(/\/v1$/, ''));

const once = { submits: 1, creates: 1 };
const openai = (baseURL = `${gateway.url}/v1`, more = {}) =>
  new OpenAI({ apiKey: account.key, baseURL, ...more });

describe('openai for Node', () => {
  it('gets the image of a generate whose response was lost', async () => {
    const url = lossyV1();
    const prompt = 'openai, lost generate';
    const images = await openai(url).images.generate({ model: 'gpt-image', prompt });
    expect(images.data).toHaveLength(1);
    expect(requestsTo(url)).toBe(2);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('gets the image of an edit with files whose response was lost', async () => {
    const prompt = 'openai, lost edit';
    const files = await Promise.all(
      [2, 3].map((side) => toFile(png(side, side), `${side}.png`, { type: 'image/png' })),
    );
    const url = lossyV1();
    const images = await openai(url).images.edit({ model: 'gpt-image', prompt, image: files });
    expect(images.data).toHaveLength(1);
    expect(requestsTo(url)).toBe(2);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it.each(['accepted-500', 'accepted-502', 'accepted-504', 'accepted-then-silent', 'malformed'])(
    'repeats nothing if the upstream accepted and responded with %s',
    async (fault) => {
      const prompt = `openai, ${fault} [sim:create:${fault}]`;
      const failed = await openai()
        .images.generate({ model: 'gpt-image', prompt })
        .catch((error) => error);
      expect(failed).toBeInstanceOf(OpenAI.InternalServerError);
      expect(failed.headers.get('x-should-retry')).toBe('false');
      expect(gateway.simulator.submissions(prompt)).toEqual(once);
      expect((await account.balance()).held).toBe('0.000000');
    },
  );

  it('gets the one task of a create whose response was lost', async () => {
    const prompt = 'openai, lost task';
    const created = await openai(lossyV1()).images.generate({ model: 'wan-image', prompt });
    expect(created).toMatchObject({ object: 'image.generation.task', status: 'submitted' });
    const list = await account.call('GET', '/v1/images/generations?limit=100');
    const ids = list.body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([Reflect.get(created, 'id')]);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('creates one task although its first request is lost before it is recorded', async () => {
    const { repeats } = gateway.core.stores;
    const unheld = { ...repeats };
    const recording = gate();
    let isFirst = true;
    repeats.note = async (...tried) => {
      const waits = isFirst;
      isFirst = false;
      if (waits) await recording.promise;
      await unheld.note(...tried);
    };
    onTestFinished(() => void Object.assign(repeats, unheld));
    const buyer = await gateway.account();
    const prompt = 'openai, recorded late';
    const first = pauseFirstAt('admission.held');
    const base = proxy.lossyUrl({ when: first.reached.then(() => undefined) });
    await openai(`${base}/v1`, { apiKey: buyer.key }).images.generate({ model: 'wan-image', prompt });
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
    recording.resolve();
    first.release();
    await expect.poll(() => buyer.balance()).toMatchObject({ held: '0.000000' });
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('that stops waiting and repeats its request gets the images of the first task', async () => {
    const prompt = 'openai, slow task [sim:render=3]';
    const impatient = openai(undefined, {
      timeout: 2_500,
      maxRetries: 50,
      defaultHeaders: { prefer: 'wait=60' },
    });
    const images = await impatient.images.generate({ model: 'wan-image', prompt });
    expect(images.data?.[0]?.url).toMatch(/^http/);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('that sends the same request twice on purpose gets two tasks', async () => {
    const twice = { model: 'wan-image', prompt: 'openai, two tasks' };
    const [one, two] = [await openai().images.generate(twice), await openai().images.generate(twice)];
    expect(Reflect.get(two, 'id')).not.toBe(Reflect.get(one, 'id'));
  });
});

describe('the AI SDK with an Idempotency-Key', () => {
  const generate = (baseURL: string, prompt: string, images: Buffer[] = []) =>
    generateImage({
      model: createOpenAICompatible({ name: 'mediary', baseURL, apiKey: account.key }).imageModel(
        'gpt-image',
      ),
      prompt: images.length === 0 ? prompt : { text: prompt, images },
      headers: { 'idempotency-key': prompt.replaceAll(' ', '-') },
    });

  it('gets the image of a generate whose response was lost', async () => {
    const url = lossyV1();
    const prompt = 'ai sdk, lost generate';
    expect((await generate(url, prompt)).images).toHaveLength(1);
    expect(requestsTo(url)).toBe(2);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('gets the image of an edit of several files whose response was lost', async () => {
    const prompt = 'ai sdk, lost edit';
    expect((await generate(lossyV1(), prompt, [png(8, 8), png(9, 9)])).images).toHaveLength(1);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('repeats after a failure of the upstream, at no charge', async () => {
    const prompt = 'ai sdk, accepted-500 [sim:create:accepted-500]';
    const failed = await generate(`${gateway.url}/v1`, prompt).catch((error) => error);
    expect(APICallError.isInstance(failed.lastError)).toBe(true);
    expect(failed.errors).toHaveLength(3);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });
});

async function persistently<Made>(create: () => PromiseLike<Made>): Promise<Made> {
  const lostTries = () => gateway.core.mongo.db.collection('idempotency').countDocuments({ lost: true });
  const before = await lostTries();
  try {
    return await create();
  } catch {
    await expect.poll(lostTries).toBeGreaterThan(before);
    return create();
  }
}

function post(url: string, body: unknown): Promise<unknown> {
  return persistently(async () => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return answer.json();
  });
}

const video = 'seedance';

const creates: Readonly<Record<string, (base: string, prompt: string) => Promise<unknown>>> = {
  'our own interface': (base, prompt) => post(`${base}/v1/videos/generations`, { model: video, prompt }),
  'openai videos': (base, prompt) => openai(`${base}/v1`).videos.create({ model: video as never, prompt }),
  '@fal-ai/client': (base, prompt) =>
    persistently(() =>
      createFalClient({
        credentials: account.key,
        proxyUrl: { url: `${base}/fal`, when: 'always' },
        retry: { maxRetries: 0 },
      }).queue.submit(`any/${video}`, { input: { prompt } }),
    ),
  '@openrouter/sdk': (base, prompt) =>
    persistently(() =>
      new OpenRouter({
        apiKey: account.key,
        serverURL: `${base}/api/v1`,
        retryConfig: { strategy: 'none' },
      }).videoGeneration.generate({
        videoGenerationRequest: { model: video, prompt },
      }),
    ),
  replicate: (base, prompt) =>
    persistently(() =>
      new Replicate({ auth: account.key, baseUrl: `${base}/v1` }).predictions.create({
        model: `any/${video}`,
        input: { prompt },
      }),
    ),
  '@ai-sdk/bytedance': (base, prompt) =>
    persistently(() =>
      createByteDance({ apiKey: account.key, baseURL: `${base}/api/v3` })
        .video(video)
        .doGenerate({ prompt, n: 1, providerOptions: {} } as never),
    ),
};

const losses: readonly [string, (reached: Promise<void>) => Loss][] = [
  ['reset when it was there', () => ({})],
  ['a 502 when it was there', () => ({ status: 502 })],
  ['cut before it was there', (when) => ({ when })],
  ['a 504 before it was there', (when) => ({ when, status: 504 })],
];

/** Only this client sends a retry count, so only its attempts are recorded before the response. */
const counts = (name: string) => name === 'openai videos';
const untilRecorded = (made: string) =>
  expect.poll(() => gateway.core.mongo.db.collection('idempotency').countDocuments({ made })).toBe(1);

describe.each(Object.entries(creates))('a video by %s', (name, create) => {
  it.each(losses)('is created once if its response is lost: %s', async (kind, lossOf) => {
    const prompt = `${name}, ${kind}`;
    const paused = pauseFirstAt('admission.held');
    const isThere = paused.reached.then(async (task) => {
      if (counts(name)) await untilRecorded(task);
      paused.release();
    });
    const base = proxy.lossyUrl(lossOf(isThere));
    const made = create(base, prompt);
    await made;
    expect(proxy.requests(base)).toBeGreaterThan(1);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('is created twice for two requests', async () => {
    const prompt = `${name}, twice`;
    await create(gateway.url, prompt);
    await create(gateway.url, prompt);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual({ submits: 2, creates: 2 });
  });
});

it('a client that sends a retry count gets the video whose response a proxy had read to its end', async () => {
  const prompt = 'openai, read and lost';
  const base = proxy.lossyUrl({ status: 502, isRead: true });
  await openai(`${base}/v1`).videos.create({ model: video as never, prompt });
  expect(proxy.requests(base)).toBe(2);
  await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
});

const picture = 'gpt-image';
const job = 'wan-image';
const asked = (prompt: string) => ({ model: picture, prompt });
const chat = (prompt: string) => ({ model: picture, messages: [{ role: 'user', content: prompt }] });
const input = (prompt: string) => ({ input: { prompt } });
const source = `data:image/png;base64,${png(2, 2).toString('base64')}`;

const imageCreates: readonly [path: string, body: (prompt: string) => object][] = [
  ['/v1/images/generations', asked],
  ['/v1/images/edits', (prompt) => ({ ...asked(prompt), image: source })],
  ['/v1/chat/completions', chat],
  ['/api/v1/chat/completions', chat],
  ['/api/v1/images', asked],
  ['/api/v3/images/generations', (prompt) => ({ ...asked(prompt), response_format: 'b64_json' })],
  [`/v1/models/any/${job}/predictions`, input],
  ['/v1/predictions', (prompt) => ({ version: job, ...input(prompt) })],
  [`/fal/any/${job}`, (prompt) => ({ prompt })],
  [`/fal/run/any/${job}`, (prompt) => ({ prompt })],
];

describe.each(imageCreates)('an image by %s', (path, body) => {
  it.each(losses.slice(0, 2))('is rendered once if its response is lost: %s', async (kind, lossOf) => {
    const prompt = `an image by ${path}, ${kind}`;
    const base = proxy.lossyUrl(lossOf(Promise.resolve()));
    await post(`${base}${path}`, body(prompt));
    expect(proxy.requests(base)).toBeGreaterThan(1);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
  });
});
