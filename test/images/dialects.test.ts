import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFalClient } from '@fal-ai/client';
import { OpenRouter } from '@openrouter/sdk';
import OpenAI from 'openai';
import Replicate from 'replicate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectImage } from '../../src/images/inspect-image.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventsOf, png } from './support.ts';

let gateway: TestGateway;
let account: TestAccount;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dialect-images-'));
  gateway = await startGateway({ yaml, renderSeconds: 0.2, environment: { DATA_DIR: directory } });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const size = { width: 1024, height: 1024 };
const prompt = 'a red cube';
interface Drawn {
  readonly images?: readonly { readonly image_url: { readonly url: string } }[];
}
const models = ['gpt-image', 'seedream', 'wan-image'] as const;

async function sizeAt(link: string): Promise<object | undefined> {
  const { pathname, search } = new URL(link);
  const own = await fetch(gateway.url + pathname + search);
  const file = own.ok ? own : await fetch(link);
  return inspectImage(new Uint8Array(await file.arrayBuffer()));
}
const sizeOf = (base64: string) => inspectImage(Buffer.from(base64, 'base64'));
const sizeIn = (dataUrl: string) => sizeOf(dataUrl.replace(/^data:image\/(?:png|jpeg);base64,/, ''));
const chargedSince = async (available: string) =>
  Number(available) - Number((await account.balance()).available);

describe.each(models)('%s', (model) => {
  it('fal: the queue ends with images', async () => {
    const { available } = await account.balance();
    const fal = createFalClient({
      credentials: account.key,
      proxyUrl: { url: `${gateway.url}/fal`, when: 'always' },
    });
    const input = { prompt, image_size: 'square_hd', num_images: 2 };
    const { data } = await fal.subscribe(`any/${model}`, { input, pollInterval: 200 });
    expect(data).not.toHaveProperty('video');
    const links: string[] = data.images.map(({ url }: { url: string }) => url);
    expect(await Promise.all(links.map(sizeAt))).toMatchObject([size, size]);
    expect(await chargedSince(available)).toBeGreaterThan(0);
  });

  it('Replicate: run ends with the list of links', async () => {
    const replicate = new Replicate({
      auth: account.key,
      baseUrl: `${gateway.url}/v1`,
      useFileOutput: false,
    });
    const output = await replicate.run(`any/${model}`, {
      input: { prompt, size: '1024x1024', num_outputs: 1 },
      wait: { mode: 'poll', interval: 200 },
    });
    expect(output).toEqual([expect.stringMatching(/^http/)]);
    expect(await sizeAt((output as string[])[0] ?? '')).toMatchObject(size);
    const { results } = await replicate.predictions.list();
    expect(results[0]).toMatchObject({ model, status: 'succeeded', output });
  });

  it('OpenRouter: images as data', async () => {
    const client = new OpenRouter({ apiKey: account.key, serverURL: `${gateway.url}/api/v1` });
    const asked = { model, prompt, size: '1024x1024' };
    const made = await client.images.generate({ imageGenerationRequest: asked });
    if (!('data' in made)) throw new Error('a stream');
    const { data, usage } = made;
    expect(data).toMatchObject([{ mediaType: expect.stringMatching(/^image\/(?:png|jpeg)$/) }]);
    expect(sizeOf(data[0]?.b64Json ?? '')).toMatchObject(size);
    expect(usage).toMatchObject({ totalTokens: expect.any(Number) });
  });

  it('a chat: the message holds the image, also as a stream', async () => {
    const client = new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const image_config = { image_size: '1024x1024' };
    const asked = {
      model,
      messages: [{ role: 'user' as const, content: prompt }],
      modalities: ['image', 'text'],
    };
    const body = { ...asked, image_config, temperature: 1 } as unknown as typeof asked & {
      modalities: 'text'[];
    };
    const { choices } = await client.chat.completions.create({ ...body, stream: false });
    const message = choices[0]?.message as unknown as Drawn | undefined;
    expect(message?.images?.map(({ image_url }) => sizeIn(image_url.url))).toMatchObject([size]);
    const { data: stream, response } = await client.chat.completions
      .create({ ...body, stream: true })
      .withResponse();
    const chunks = await eventsOf(stream);
    const urls = chunks.flatMap(({ choices: [choice] }) =>
      ((choice?.delta as unknown as Drawn | undefined)?.images ?? []).map(({ image_url }) => image_url.url),
    );
    expect(urls.map(sizeIn)).toMatchObject([size]);
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: expect.anything() });
    expect(await statusOf(response)).toBe('succeeded');
  });

  it('OpenRouter: a stream of events', async () => {
    const client = new OpenRouter({ apiKey: account.key, serverURL: `${gateway.url}/api/v1` });
    const asked = { model, prompt, size: '1024x1024', n: 2, stream: true };
    const made = await client.images.generate({ imageGenerationRequest: asked });
    if ('data' in made) throw new Error('not a stream');
    const events = await eventsOf(made);
    const completed = { type: 'image_generation.completed', mediaType: expect.stringMatching(/^image\//) };
    expect(events).toMatchObject([completed, { ...completed, usage: { totalTokens: expect.any(Number) } }]);
    const images = events.map((event) => ('b64Json' in event ? sizeOf(event.b64Json) : undefined));
    expect(images).toMatchObject([size, size]);
  });

  it('OpenRouter: a chat as a stream', async () => {
    const client = new OpenRouter({ apiKey: account.key, serverURL: `${gateway.url}/api/v1` });
    const messages = [{ role: 'user' as const, content: prompt }];
    const made = await client.chat.send({ chatRequest: { model, messages, stream: true } });
    if ('choices' in made) throw new Error('not a stream');
    const chunks = await eventsOf(made);
    expect(chunks.map(({ choices: [choice] }) => choice?.finishReason)).toEqual([null, 'stop']);
  });

  it('Ark: a stream of events', async () => {
    const events = await streamed('/api/v3/images/generations', { model, prompt, size: '1024x1024', n: 2 });
    const succeeded = { type: 'image_generation.partial_succeeded', model };
    expect(events).toMatchObject([
      { ...succeeded, image_index: 0 },
      { ...succeeded, image_index: 1 },
      { type: 'image_generation.completed', model, usage: { generated_images: 2 } },
      '[DONE]',
    ]);
    expect(await Promise.all(events.slice(0, 2).map(({ url }) => sizeAt(url)))).toMatchObject([size, size]);
    const asData = { model, prompt, size: '1024x1024', response_format: 'b64_json' };
    const [image] = await streamed('/api/v3/images/generations', asData);
    expect([image.url, sizeOf(image.b64_json)]).toMatchObject([undefined, size]);
  });

  it('Ark: links', async () => {
    const { status, body } = await account.call('POST', '/api/v3/images/generations', {
      body: { model, prompt, size: '1024x1024', watermark: false },
    });
    expect([status, body]).toMatchObject([200, { model, usage: { generated_images: 1 } }]);
    expect(await sizeAt(body.data[0].url)).toMatchObject(size);
  });
});

async function streamed(path: string, body: object): Promise<any[]> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  return [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
    data === '[DONE]' ? data : JSON.parse(data),
  );
}

async function statusOf(response: Response): Promise<string> {
  const id = response.headers.get('x-mediary-image');
  return (await account.call('GET', `/v1/images/generations/${id}`)).body.status;
}

describe('a stream of another interface', () => {
  const model = 'seedream';
  const failing = 'x [sim:item-moderation]';
  const code = 'content_policy_violation';

  it.each<[string, string, object, object]>([
    ['OpenRouter', '/api/v1/images', { prompt: failing }, { type: 'error', error: { code } }],
    [
      'Ark',
      '/api/v3/images/generations',
      { prompt: failing },
      { type: 'error', error: { code: 'SensitiveContentDetected' } },
    ],
    [
      'a chat as OpenRouter',
      '/api/v1/chat/completions',
      { messages: [{ role: 'user', content: failing }] },
      { choices: [{ finish_reason: 'error' }], error: { code: 400, metadata: { code } } },
    ],
  ])('ends with the error, and the failure costs nothing: %s', async (_interface, path, body, error) => {
    const before = await account.balance();
    expect((await streamed(path, { model, ...body }))[0]).toMatchObject(error);
    expect(await account.balance()).toEqual(before);
  });

  it('refuses partial images if the interface has none, because they would be billed', async () => {
    const asked = { model: 'gpt-image', stream: true, partial_images: 1 };
    for (const [path, body] of [
      ['/api/v3/images/generations', { prompt }],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: prompt }] }],
    ] as const)
      expect((await account.call('POST', path, { body: { ...asked, ...body } })).body.error).toMatchObject({
        param: 'partial_images',
      });
    const [event] = await streamed('/api/v1/images', { ...asked, prompt });
    expect(event).toMatchObject({ type: 'image_generation.partial_image', partial_image_index: 0 });
  });

  it('makes the official client throw if a chat fails', async () => {
    const client = new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: failing }];
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const failed = await eventsOf(stream).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(OpenAI.APIError);
    expect(failed).toMatchObject({ code });
  });
});

describe('a conversation', () => {
  const image = `data:image/png;base64,${png(64, 64, 40_000).toString('base64')}`;
  const ask = (messages: unknown, more: object = {}) =>
    account.call('POST', '/api/v1/chat/completions', { body: { model: 'gpt-image', messages, ...more } });
  const picture = { type: 'image_url', image_url: { url: image } };
  const inputTokens = async (messages: unknown): Promise<number> => {
    const { status, body } = await ask(messages);
    expect([status, body.choices]).toEqual([200, [expect.anything()]]);
    return body.usage.prompt_tokens;
  };

  it('edits the images of its last message, or else the latest ones', async () => {
    const bare = await inputTokens([{ role: 'user', content: prompt }]);
    const own = await inputTokens([{ role: 'user', content: [{ type: 'text', text: prompt }, picture] }]);
    const earlier = await inputTokens([
      { role: 'system', content: 'You draw.' },
      { role: 'user', content: [{ type: 'text', text: 'An older one' }, picture, picture] },
      { role: 'assistant', content: '', images: [picture] },
      { role: 'user', content: prompt },
    ]);
    expect(own).toBeGreaterThan(bare);
    expect(earlier).toBe(own);
  });

  it('is refused with the caller’s own field names if it cannot be read', async () => {
    const refused = async (messages: unknown) => {
      const { status, body } = await ask(messages);
      return [status, body.error.metadata.code, body.error.metadata.param];
    };
    expect(await refused(undefined)).toEqual([400, 'missing_parameter', 'messages']);
    expect(await refused('draw')).toEqual([400, 'invalid_parameter', 'messages']);
    expect(await refused([{ role: 'assistant', content: 'x' }])).toEqual([
      400,
      'invalid_parameter',
      'messages',
    ]);
    expect(await refused([{ role: 'user', content: [{ type: 'file' }] }])).toEqual([
      400,
      'invalid_parameter',
      'messages[0].content[0].type',
    ]);
    const video = { type: 'video_url', video_url: { url: 'https://cdn.example/v.mp4' } };
    expect(await refused([{ role: 'user', content: [{ type: 'text', text: prompt }, video] }])).toEqual([
      400,
      'unsupported_parameter',
      'messages[0].content[1].video_url',
    ]);
    const broken = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(await refused([{ role: 'user', content: [{ type: 'text', text: prompt }, broken] }])).toEqual([
      400,
      'invalid_parameter',
      'messages[0].content[1].image_url',
    ]);
  });

  it('with a moderated prompt fails in the form of the interface, and costs nothing', async () => {
    const before = await account.balance();
    const { status, body } = await ask([{ role: 'user', content: 'x [sim:item-moderation]' }]);
    expect([status, body.error.metadata.code]).toEqual([400, 'content_policy_violation']);
    expect(await account.balance()).toEqual(before);
  });
});

const yaml = `
currency: USD
results: { storage: directory }
channels:
  - id: openai
    provider: openai
    base_url: \${SIMULATOR_URL}/openai/v1
    credentials: [{ id: a, api_key: simulated }]
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    models: { gpt-image: { upstream: gpt-image-1.5 } }
  - id: ark
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    credentials: [{ id: a, api_key: simulated }]
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    models: { seedream: { upstream: doubao-seedream-4-0-250828 } }
  - id: dashscope
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    credentials: [{ id: a, api_key: simulated }]
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    models: { wan-image: { upstream: wan2.5-t2i-preview } }
models:
  - id: gpt-image
    kind: image
    inputs: { images: { max: 16 } }
    n: { max: 4 }
    price: { lines: [{ measure: million_tokens, price: "40" }] }
  - id: seedream
    kind: image
    n: { max: 4 }
    price: { lines: [{ measure: image, price: "0.02" }] }
  - id: wan-image
    kind: image
    expected_seconds: 1
    n: { max: 4 }
    price: { lines: [{ measure: image, price: "0.02" }] }
`;
