import OpenAI, { toFile } from 'openai';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { renderMedium } from '../../../../workshop/simulator/media/medium.ts';
import { factsOfFile, startHarness, testKey, type Answer, type Harness } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 0 });
beforeEach(() => {
  harness.control.reset();
});
afterAll(() => harness.close());

const client = new OpenAI({ apiKey: testKey, baseURL: `${harness.url}/openai/v1`, maxRetries: 0 });
const picture = (format: 'png' | 'jpeg', side: number) =>
  renderMedium({ format, width: side, height: side, frames: 0, tint: 0, marked: false, bytes: 0 });
const png = picture('png', 256);
const jpeg = picture('jpeg', 64);

const generate = (
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> =>
  harness.call(
    'POST',
    '/openai/v1/images/generations',
    { model: 'gpt-image-1.5', prompt: 'a red cube', ...body },
    headers,
  );

const decode = (text: string | undefined) => factsOfFile(Buffer.from(text ?? '', 'base64'));

describe('generations with a GPT image model', () => {
  it('answer in base64, with usage and what was chosen', async () => {
    const { status, body } = await generate({ size: '1024x1024', quality: 'medium' });
    expect(status).toBe(200);
    expect(body).toEqual({
      created: expect.any(Number),
      background: 'opaque',
      output_format: 'png',
      quality: 'medium',
      size: '1024x1024',
      data: [{ b64_json: expect.any(String) }],
      usage: {
        total_tokens: 1059,
        input_tokens: 3,
        output_tokens: 1056,
        input_tokens_details: { text_tokens: 3, image_tokens: 0 },
      },
    });
    const shape = { mediaType: 'image/png', width: 1024, height: 1024 };
    expect(await decode(body.data[0].b64_json)).toEqual(shape);
  });
});

describe('generations with dall-e', () => {
  it('answer with links that last an hour, without usage', async () => {
    const { body } = await generate({ model: 'dall-e-3', size: '1792x1024', quality: 'hd', style: 'vivid' });
    expect(body).toEqual({
      created: expect.any(Number),
      data: [{ url: expect.any(String), revised_prompt: expect.stringContaining('a red cube') }],
    });
    const link: string = body.data[0].url;
    const file = Buffer.from(await (await fetch(link)).arrayBuffer());
    expect(await factsOfFile(file)).toMatchObject({ width: 1792, height: 1024 });
    harness.control.advance(3601);
    expect((await fetch(link)).status).toBe(403);
  });
});

describe('edits', () => {
  it('take one image', async () => {
    const image = await toFile(png, 'a.png', { type: 'image/png' });
    const result = await client.images.edit({ model: 'gpt-image-1.5', prompt: 'make it red', image });
    expect(await decode(result.data?.[0]?.b64_json)).toMatchObject({ mediaType: 'image/png', width: 1024 });
    expect(result.usage?.input_tokens_details.image_tokens).toBe(323);
  });

  it('take several images, a mask and every field as text', async () => {
    const image = await Promise.all([
      toFile(png, 'a.png', { type: 'image/png' }),
      toFile(jpeg, 'b.jpg', { type: 'image/jpeg' }),
    ]);
    const mask = await toFile(png, 'm.png', { type: 'image/png' });
    const result = await client.images.edit({
      model: 'gpt-image-1.5',
      prompt: 'x',
      image,
      mask,
      n: 2,
      size: '1024x1536',
      input_fidelity: 'high',
      quality: 'high',
    });
    expect(result.data).toHaveLength(2);
    expect(result).toMatchObject({ size: '1024x1536', quality: 'high' });
    expect(result.usage?.input_tokens_details.image_tokens).toBe(646);
  });

  const edit = async (
    fields: Record<string, string>,
    files: readonly (readonly [string, Buffer])[],
  ): Promise<Answer> => {
    const form = new FormData();
    for (const [key, value] of Object.entries({ model: 'gpt-image-1.5', prompt: 'x', ...fields }))
      form.set(key, value);
    for (const [key, file] of files) form.append(key, new Blob([new Uint8Array(file)]), 'file');
    const response = await fetch(`${harness.url}/openai/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}` },
      body: form,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };

  it.each([
    ['no image', {}, [], 'image', 'missing_required_parameter'],
    ['n as a word', { n: 'two' }, [['image', png]], 'n', 'invalid_value'],
  ] as const)('refuse %s', async (_title, fields, files, ...[param, code]) => {
    const answer = await edit(fields, files);
    expect([answer.status, answer.body.error.param, answer.body.error.code]).toEqual([400, param, code]);
  });

  it('refuse JSON', async () => {
    expect((await harness.call('POST', '/openai/v1/images/edits', { prompt: 'x' })).status).toBe(400);
  });
});

describe('validation', () => {
  it.each([
    ['an unknown model', { model: 'sora' }, 404, 'model', 'model_not_found'],
    ['no prompt', { prompt: undefined }, 400, 'prompt', 'missing_required_parameter'],
    ['a size in words', { size: 'large' }, 400, 'size', 'invalid_value'],
    ['an unknown quality', { quality: 'best' }, 400, 'quality', 'invalid_value'],
    ['response_format', { response_format: 'b64_json' }, 400, 'response_format', 'unknown_parameter'],
  ])('refuses %s', async (_title, body, status, ...[param, code]) => {
    const answer = await generate(body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body.error)).toEqual(['message', 'type', 'param', 'code']);
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', param, code });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });
});

describe('faults', () => {
  it.each([
    ['429', 'requests'],
    ['quota', 'insufficient_quota'],
    ['500', 'server_error'],
    ['item-moderation', 'image_generation_user_error'],
    ['item-error', 'server_error'],
  ])('%s has the type %s', async (fault, type) => {
    expect((await generate({ prompt: `[sim:${fault}]` })).body.error.type).toBe(type);
  });

  it('have the code of the older models there', async () => {
    const answer = await generate({ model: 'dall-e-3', prompt: '[sim:item-moderation]' });
    expect(answer.body.error.code).toBe('content_policy_violation');
  });

  it('come as the errors of the official client', async () => {
    const refused = client.images.generate({ model: 'gpt-image-1.5', prompt: '[sim:429]' });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    const keyless = new OpenAI({ apiKey: 'wrong', baseURL: `${harness.url}/openai/v1`, maxRetries: 0 });
    await expect(keyless.images.generate({ prompt: 'x' })).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });
});
