import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { createByteDance } from '@ai-sdk/bytedance';
import { createFalClient } from '@fal-ai/client';
import { OpenRouter } from '@openrouter/sdk';
import Replicate from 'replicate';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startLossyProxy } from '../../workshop/acceptance/lossy-proxy.ts';
import type { Loss, LossyProxy } from '../../workshop/acceptance/lossy-proxy.ts';
import { contractYaml } from '../contract/same-interface.ts';
import { png } from '../images/support.ts';
import { pauseFirstAt } from '../support/race.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import type { TestGateway } from '../support/gateway.ts';

/** Clients repeat a POST automatically. A response that was lost never becomes a second image that somebody pays. */

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
  // A credential whose answers were bad has its circuit open: the next test starts with a new mind. The answer does not
  // wait for the circuit's record.
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
  it('gets the image of a generate whose answer was lost', async () => {
    const url = lossyV1();
    const prompt = 'openai, lost generate';
    const images = await openai(url).images.generate({ model: 'gpt-image', prompt });
    expect(images.data).toHaveLength(1);
    expect(requestsTo(url)).toBe(2);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('gets the image of an edit with files whose answer was lost', async () => {
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
    'repeats nothing where the upstream accepted and answered with %s',
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

  it('gets the one task of a create whose answer was lost', async () => {
    const prompt = 'openai, lost task';
    const created = await openai(lossyV1()).images.generate({ model: 'wan-image', prompt });
    expect(created).toMatchObject({ object: 'image.generation.task', status: 'submitted' });
    const list = await account.call('GET', '/v1/images/generations?limit=100');
    const ids = list.body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([Reflect.get(created, 'id')]);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('that stops waiting and repeats gets the images of the first task', async () => {
    const prompt = 'openai, slow task [sim:render=3]';
    const impatient = openai(undefined, {
      timeout: 2_500,
      maxRetries: 8,
      defaultHeaders: { prefer: 'wait=60' },
    });
    const images = await impatient.images.generate({ model: 'wan-image', prompt });
    expect(images.data?.[0]?.url).toMatch(/^http/);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('that asks twice on purpose gets two tasks', async () => {
    const twice = { model: 'wan-image', prompt: 'openai, two tasks' };
    const [one, two] = [await openai().images.generate(twice), await openai().images.generate(twice)];
    expect(Reflect.get(two, 'id')).not.toBe(Reflect.get(one, 'id'));
  });
});

describe('the AI SDK with an Idempotency-Key', () => {
  const generate = (baseURL: string, prompt: string) =>
    generateImage({
      model: createOpenAICompatible({ name: 'mediary', baseURL, apiKey: account.key }).imageModel(
        'gpt-image',
      ),
      prompt,
      headers: { 'idempotency-key': prompt.replaceAll(' ', '-') },
    });

  it('gets the image of a generate whose answer was lost', async () => {
    const url = lossyV1();
    const prompt = 'ai sdk, lost generate';
    expect((await generate(url, prompt)).images).toHaveLength(1);
    expect(requestsTo(url)).toBe(2);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('repeats a failure of the upstream, and buys nothing by it', async () => {
    const prompt = 'ai sdk, accepted-500 [sim:create:accepted-500]';
    const failed = await generate(`${gateway.url}/v1`, prompt).catch((error) => error);
    expect(APICallError.isInstance(failed.lastError)).toBe(true);
    expect(failed.errors).toHaveLength(3);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  });
});

/** A program that repeats what failed, after a pause in which the gateway has noted that its answer was lost. */
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

/** Every client that creates videos: `base` is the address of the gateway. */
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

describe.each(Object.entries(creates))('a video by %s', (name, create) => {
  it.each(losses)('is created once where its answer is lost: %s', async (kind, lossOf) => {
    const prompt = `${name}, ${kind}`;
    const paused = pauseFirstAt('admission.held');
    const base = proxy.lossyUrl(lossOf(paused.reached));
    void paused.reached.then(paused.release);
    const made = create(base, prompt);
    await made;
    expect(proxy.requests(base)).toBeGreaterThan(1);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
  });

  it('is two for who asks twice', async () => {
    const prompt = `${name}, twice`;
    await create(gateway.url, prompt);
    await create(gateway.url, prompt);
    await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual({ submits: 2, creates: 2 });
  });
});

it('a client that counts gets the video whose answer a proxy had read to its end', async () => {
  const prompt = 'openai, read and lost';
  const base = proxy.lossyUrl({ status: 502, isRead: true });
  await openai(`${base}/v1`).videos.create({ model: video as never, prompt });
  expect(proxy.requests(base)).toBe(2);
  await expect.poll(() => gateway.simulator.submissions(prompt)).toEqual(once);
});

it.each(losses.slice(0, 2))(
  'an image of our own interface is rendered once where its answer is lost: %s',
  async (kind, lossOf) => {
    const prompt = `an image, ${kind}`;
    const base = proxy.lossyUrl(lossOf(Promise.resolve()));
    const body = { model: 'gpt-image', prompt };
    expect(await post(`${base}/v1/images/generations`, body)).toMatchObject({ data: [expect.anything()] });
    expect(proxy.requests(base)).toBeGreaterThan(1);
    expect(gateway.simulator.submissions(prompt)).toEqual(once);
  },
);
