import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { imageYaml, pixel, png, refuse, sendImages, startImageUpstream } from './support.ts';
import type { ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: imageYaml({ first: upstream.url }), worker: false });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
beforeEach(async () => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
  account = await gateway.account();
  client = new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/v1` });
});

const charged = async (): Promise<string> => (100 - Number((await account.balance()).available)).toFixed(2);

it('images.generate', async () => {
  const images = await client.images.generate({
    model: 'gpt-image',
    prompt: 'a red cube',
    n: 2,
    size: 'auto',
  });
  expect(images.data?.map(({ b64_json }) => b64_json)).toEqual([
    pixel.toString('base64'),
    pixel.toString('base64'),
  ]);
  expect(images.usage?.total_tokens).toBe(1_107);
  expect(await charged()).toBe('0.08');
});

it('images.edit with one file, several files, and a mask', async () => {
  const one = await toFile(png(2, 2), 'one.png', { type: 'image/png' });
  const two = await toFile(png(3, 3), 'two.png', { type: 'image/png' });
  const edit = { model: 'gpt-image', prompt: 'make it blue' };
  expect((await client.images.edit({ ...edit, image: one })).data).toHaveLength(1);
  expect((await client.images.edit({ ...edit, image: [one, two], mask: one, n: 2 })).data).toHaveLength(2);
  expect(upstream.calls.map(({ path }) => path)).toEqual(['/v1/images/edits', '/v1/images/edits']);
  expect(upstream.calls[1]?.body.toString('latin1')).toMatch(/name="image\[\]"; filename="two.png"/);
  expect(await charged()).toBe('0.12');
});

it('a field that the model does not use is named in the response, which the client can still read', async () => {
  const metadata = { theirs: 1, size: '1x1', style: 'calm', execution_expires_after: 60 };
  const unused = { qualty: 'low', style: 'vivid', metadata, user: null };
  const images = await client.images.generate({ model: 'gpt-image', prompt: 'x', ...unused } as never);
  expect(images).toMatchObject({
    data: [{ b64_json: pixel.toString('base64') }],
    warnings: [
      'metadata.style',
      'metadata.size',
      'metadata.execution_expires_after',
      'metadata.theirs',
      'style',
      'qualty',
    ],
  });
  const right = await client.images.generate({ model: 'gpt-image', prompt: 'x' });
  expect(right).not.toHaveProperty('warnings');
  const image = await toFile(png(2, 2), 'one.png', { type: 'image/png' });
  const edit = { model: 'gpt-image', prompt: 'x', image, backgruond: 'opaque' };
  const form = await client.images.edit(edit);
  expect(form).toMatchObject({ data: [{}], warnings: ['backgruond'] });
});

describe('errors become the classes of the client', () => {
  it('400, 401, 402', async () => {
    const bad = await client.images
      .generate({ model: 'gpt-image', prompt: 'x', n: 99 })
      .catch((error) => error);
    expect(bad).toBeInstanceOf(OpenAI.BadRequestError);
    expect(bad).toMatchObject({ param: 'n', code: 'unsupported_parameter', type: 'invalid_request_error' });
    const stranger = new OpenAI({ apiKey: 'sk-wrong', baseURL: `${gateway.url}/v1` });
    const unknown = await stranger.images
      .generate({ model: 'gpt-image', prompt: 'x' })
      .catch((error) => error);
    expect(unknown).toBeInstanceOf(OpenAI.AuthenticationError);
    const poor = await gateway.account({ credit: '0' });
    const broke = new OpenAI({ apiKey: poor.key, baseURL: `${gateway.url}/v1` });
    const refused = await broke.images.generate({ model: 'gpt-image', prompt: 'x' }).catch((error) => error);
    expect(refused).toMatchObject({ status: 402, code: 'insufficient_balance' });
    expect(upstream.calls).toHaveLength(0);
  });

  it('a request that an upstream may have accepted is not repeated', async () => {
    upstream.answer = refuse(500, 'server_error', 'boom');
    const failed = await client.images.generate({ model: 'gpt-image', prompt: 'x' }).catch((error) => error);
    expect(failed).toBeInstanceOf(OpenAI.InternalServerError);
    expect(failed).toMatchObject({ code: 'provider_error' });
    expect(upstream.calls).toHaveLength(1);
  });

  it('a request that it has not accepted is repeated', async () => {
    let calls = 0;
    upstream.answer = (call, response) => {
      calls += 1;
      if (calls === 1)
        refuse(429, 'rate_limit_exceeded', 'Slow down.', { 'retry-after': '1' })(call, response);
      else sendImages(call, response);
    };
    const images = await client.images.generate({ model: 'gpt-image', prompt: 'x' });
    expect(images.data).toHaveLength(1);
    expect(await charged()).toBe('0.04');
  });
});

it('a client that times out several times and repeats automatically gets the first image, not another one', async () => {
  let repeats: () => void = () => undefined;
  const repeated = new Promise<void>((resolve) => (repeats = resolve));
  let tries = 0;
  const patient = new OpenAI({
    apiKey: account.key,
    baseURL: `${gateway.url}/v1`,
    timeout: 2_000,
    maxRetries: 50,
    fetch: (...request) => {
      tries += 1;
      if (tries > 3) repeats();
      return fetch(...request);
    },
  });
  // Wait for the client's fourth attempt, which shows that the others have timed out, however slow the machine is.
  upstream.answer = async (call, response) => {
    await repeated;
    sendImages(call, response);
  };
  const images = await patient.images.generate({ model: 'gpt-image', prompt: 'a slow cube' });
  expect(images.data).toHaveLength(1);
  expect(tries).toBeGreaterThan(3);
  expect(upstream.calls).toHaveLength(1);
  expect(await charged()).toBe('0.04');
});

it('a client that does not count its retries and disconnects several times gets the first image', async () => {
  let render = (): void => undefined;
  const rendered = new Promise<void>((resolve) => (render = resolve));
  upstream.answer = async (call, response) => {
    await rendered;
    sendImages(call, response);
  };
  const count = (of: object) => gateway.core.mongo.db.collection('idempotency').countDocuments(of);
  const before = { lost: await count({ lost: true }), claimed: await count({ claimed: true }) };
  const generate = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-image', prompt: 'a very slow cube' }),
      ...(signal === undefined ? {} : { signal }),
    });
  for (const tries of [1, 2, 3]) {
    const patience = new AbortController();
    const sent = generate(patience.signal);
    await expect.poll(() => upstream.calls.length).toBe(1);
    await expect.poll(() => count({ claimed: true })).toBe(before.claimed + tries - 1);
    patience.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(() => count({ lost: true })).toBe(before.lost + tries);
  }
  render();
  expect((await generate()).headers.get('idempotency-replayed')).toBe('true');
  expect(upstream.calls).toHaveLength(1);
  expect(await charged()).toBe('0.04');
});

it('the same request made twice on purpose is treated as two', async () => {
  const twice = { model: 'gpt-image', prompt: 'a red cube' };
  await client.images.generate(twice);
  await client.images.generate(twice);
  await Promise.all([client.images.generate(twice), client.images.generate(twice)]);
  expect(upstream.calls).toHaveLength(4);
  expect(await charged()).toBe('0.16');
});
