import OpenAI from 'openai';
import { toFile } from 'openai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectImage } from '../../src/images/inspect-image.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventsOf, png } from './support.ts';

let gateway: TestGateway;
let account: TestAccount;
let client: OpenAI;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'streamed-images-'));
  gateway = await startGateway({ yaml, renderSeconds: 0.2, environment: { DATA_DIR: directory } });
  account = await gateway.account();
  client = new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const size = { width: 1024, height: 1024 };
const asked = { prompt: 'a red cube', size: '1024x1024', quality: 'medium', stream: true } as const;
const picture = (base64: string) => inspectImage(Buffer.from(base64, 'base64'));
const generate = (more: Partial<OpenAI.ImageGenerateParamsStreaming> = {}) =>
  client.images.generate({ model: 'gpt-image', ...asked, ...more }).withResponse();

const creates = (): number => gateway.simulator.stats().creates;

it('partial images come before the image, are included in the hold, and are charged as the upstream bills them', async () => {
  const before = await account.balance();
  const { data: stream, response } = await generate({ partial_images: 2 });
  const id = response.headers.get('x-mediary-image') ?? '';
  expect(id).toMatch(/^task_/);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(response.headers.get('x-mediary-hold')).toBe('0.050240');
  expect(response.headers.has('x-mediary-warning')).toBe(false);
  const events = await eventsOf(stream);
  expect(events.map(({ type }) => type)).toEqual([
    'image_generation.partial_image',
    'image_generation.partial_image',
    'image_generation.completed',
  ]);
  for (const { b64_json } of events) expect(picture(b64_json)).toMatchObject(size);
  expect(new Set(events.map(({ b64_json }) => b64_json)).size).toBe(3);
  expect(events).toMatchObject([
    { partial_image_index: 0, size: '1024x1024', quality: 'medium', output_format: 'png' },
    { partial_image_index: 1 },
    { usage: { output_tokens: 1_256, input_tokens: 3, total_tokens: 1_259 } },
  ]);
  const { body: task } = await account.call('GET', `/v1/images/generations/${id}`);
  expect(task).toMatchObject({ status: 'succeeded', charge: '0.050240' });
  expect(Number((await account.balance()).available)).toBeCloseTo(Number(before.available) - 0.05024, 6);
});

it('an edit, with links', async () => {
  const image = await toFile(png(64, 64), 'one.png', { type: 'image/png' });
  const edit = { model: 'gpt-image', prompt: 'x', image, response_format: 'url' } as const;
  const events = await eventsOf(await client.images.edit({ ...edit, partial_images: 1, stream: true }));
  expect(events.map(({ type }) => type)).toEqual(['image_edit.partial_image', 'image_edit.completed']);
  const [, { url = '', b64_json } = {}] = events as { url?: string; b64_json?: string }[];
  expect(b64_json).toBeUndefined();
  const { pathname, search } = new URL(url);
  const file = await fetch(gateway.url + pathname + search);
  expect(inspectImage(new Uint8Array(await file.arrayBuffer()))).toMatchObject(size);
  const { usage } = await client.images.edit(edit);
  expect(usage?.input_tokens_details.image_tokens).toBeGreaterThan(0);
  expect(events.at(-1)).toMatchObject({ usage: { input_tokens_details: usage?.input_tokens_details } });
});

it('if the upstream does not stream, the image comes alone, and the response says so', async () => {
  const { data: stream, response } = await generate({ model: 'seedream', n: 2, partial_images: 3 });
  expect(response.headers.get('x-mediary-warning')).toContain('partial_images');
  const events = await eventsOf(stream);
  expect(events.map(({ type }) => type)).toEqual([
    'image_generation.completed',
    'image_generation.completed',
  ]);
  for (const { b64_json } of events) expect(picture(b64_json)).toMatchObject(size);
});

it('names ignored fields in a header, whatever characters they contain', async () => {
  const { data: stream, response } = await generate({ 'größe\n图': 'x' } as object);
  expect(response.headers.get('x-mediary-warning')).toContain('gr\\u00f6\\u00dfe\\u000a\\u56fe');
  expect((await eventsOf(stream)).map(({ type }) => type)).toEqual(['image_generation.completed']);
});

it('a comment comes every 15 seconds if nothing else does', async () => {
  const response = await fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'seedream',
      ...asked,
      prompt: 'a red cube [sim:render=3]',
      partial_images: 1,
    }),
  });
  gateway.clock.aheadMs += 15_000;
  const text = await response.text();
  expect(text).toMatch(/^: task_\w+\n\n(?:: waiting\n\n)+event: image_generation\.completed\ndata: \{/);
});

it('a failure is an error event, and costs nothing', async () => {
  const before = await account.balance();
  const { data: stream } = await generate({ prompt: 'a red cube [sim:item-moderation]', partial_images: 1 });
  const failed = await eventsOf(stream).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(OpenAI.APIError);
  expect(failed).toMatchObject({ code: 'content_policy_violation' });
  expect(await account.balance()).toEqual(before);
});

it('a caller who disconnects is charged for what was rendered, and finds it by id', async () => {
  const made = creates();
  const { data: stream, response } = await generate({ prompt: 'a red cube [sim:render=3]' });
  stream.controller.abort();
  const id = response.headers.get('x-mediary-image') ?? '';
  const find = async () => (await account.call('GET', `/v1/images/generations/${id}`)).body;
  await expect.poll(async () => (await find()).status).toBe('succeeded');
  expect(await find()).toMatchObject({ status: 'succeeded', charge: expect.any(String), data: [{}] });
  expect(creates()).toBe(made + 1);
});

it('a repeat with the same key gets the same image', async () => {
  const made = creates();
  const again = () => client.images.generate({ model: 'gpt-image', ...asked }, keyed);
  const keyed = { headers: { 'idempotency-key': 'streamed-once' } };
  const [first, second] = [await eventsOf(await again()), await eventsOf(await again())];
  expect(second.map(({ b64_json }) => b64_json)).toEqual(first.map(({ b64_json }) => b64_json));
  expect(creates()).toBe(made + 1);
});

describe('is refused', () => {
  it.each([
    ['without a stream', { stream: undefined, partial_images: 1 }, 'unsupported_parameter'],
    ['beyond three', { partial_images: 4 }, 'invalid_parameter'],
  ])('partial_images %s', async (_, more, code) => {
    const body = { model: 'gpt-image', ...asked, ...more };
    const answer = await account.call('POST', '/v1/images/generations', { body });
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
      400,
      code,
      'partial_images',
    ]);
  });
});

const yaml = `
currency: USD
results: { storage: directory }
channels:
  - id: openai
    provider: openai
    base_url: \${SIMULATOR_URL}/openai/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { gpt-image: { upstream: gpt-image-1.5 } }
  - id: ark
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { seedream: { upstream: doubao-seedream-4-0-250828 } }
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
`;
