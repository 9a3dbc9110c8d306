import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readImage } from '../media/image-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness } from '../support.ts';

const v5 = 'doubao-seedream-5-0-260128';
const v45 = 'doubao-seedream-4-5-251128';
const v4 = 'doubao-seedream-4-0-250828';
const url = 'https://images.example/a.png';

const harness: Harness = await startHarness({ renderSeconds: 0 });
beforeEach(() => {
  harness.control.reset();
});
afterAll(() => harness.close());

const create = (body: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  harness.call(
    'POST',
    '/ark/api/v3/images/generations',
    { model: v45, prompt: 'a cat poster', ...body },
    headers,
  );

async function download(link: string): Promise<Buffer> {
  const response = await fetch(link);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe('an image', () => {
  it('comes as a link, in the size asked for, with the documented usage', async () => {
    const { status, body } = await create({ size: '2K' });
    expect(status).toBe(200);
    expect(body).toEqual({
      model: v45,
      created: expect.any(Number),
      data: [{ url: expect.stringContaining('/media/'), size: '2048x2048' }],
      usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
    });
    expect(readImage(await download(body.data[0].url))).toEqual({
      format: 'jpeg',
      width: 2048,
      height: 2048,
    });
  });

  it('comes as base64', async () => {
    const { body } = await create({ response_format: 'b64_json', size: '2560x1440' });
    expect(Object.keys(body.data[0])).toEqual(['b64_json', 'size']);
    expect(readImage(Buffer.from(body.data[0].b64_json, 'base64'))).toEqual({
      format: 'jpeg',
      width: 2560,
      height: 1440,
    });
    expect(body.usage.output_tokens).toBe((2560 * 1440) / 256);
  });

  it('is marked unless the request says otherwise', async () => {
    const image = async (body: Record<string, unknown>): Promise<string> =>
      (await create({ response_format: 'b64_json', ...body })).body.data[0].b64_json;
    expect(await image({})).toBe(await image({ watermark: true }));
    expect(await image({})).not.toBe(await image({ watermark: false }));
  });

  it.each([
    [
      { model: v5, output_format: 'png' },
      { format: 'png', width: 2048, height: 2048 },
    ],
    [{ model: 'ep-image-1' }, { width: 2048 }],
    [
      { model: v4, size: '4096x4096' },
      { width: 4096, height: 4096 },
    ],
    [
      { model: v4, size: '1K' },
      { width: 1024, height: 1024 },
    ],
  ])('%j', async (body, facts) => {
    const answer = await create({ ...body, response_format: 'b64_json' });
    expect(readImage(Buffer.from(answer.body.data[0].b64_json, 'base64'))).toMatchObject(facts);
  });

  it('counts the references', async () => {
    expect((await create({ image: [url, url] })).body.usage.input_images).toBe(2);
    expect((await create({ image: 'data:image/png;base64,iVBORw0KGgo=' })).body.usage.input_images).toBe(1);
  });

  it('takes its time', async () => {
    const begin = performance.now();
    await create({ prompt: '[sim:render=0.2]' });
    expect(performance.now() - begin).toBeGreaterThan(180);
  });

  it('can be of any number of bytes', async () => {
    const { body } = await create({ prompt: '[sim:bytes=500000]' });
    expect((await download(body.data[0].url)).length).toBeGreaterThan(499_980);
  });
});

describe('a group', () => {
  const group = {
    sequential_image_generation: 'auto',
    sequential_image_generation_options: { max_images: 4 },
  };

  it('has up to max_images, each its own picture', async () => {
    const { body } = await create({ ...group, response_format: 'b64_json' });
    expect(new Set(body.data.map((item: { b64_json: string }) => item.b64_json)).size).toBe(4);
    expect(body.usage).toEqual({ generated_images: 4, output_tokens: 65_536, total_tokens: 65_536 });
  });

  it('has no more than 15 together with the references', async () => {
    const options = { max_images: 15 };
    const { body } = await create({
      ...group,
      sequential_image_generation_options: options,
      image: Array.from({ length: 12 }, () => url),
    });
    expect(body.data).toHaveLength(3);
  });

  it('has fewer where the model wants fewer', async () => {
    expect((await create({ ...group, prompt: '[sim:images=2]' })).body.data).toHaveLength(2);
  });

  it('continues after a moderated image', async () => {
    const { status, body } = await create({ ...group, prompt: '[sim:item-moderation=1]' });
    expect(status).toBe(200);
    expect(body.data.map((item: object) => Object.keys(item)[0])).toEqual(['url', 'error', 'url', 'url']);
    expect(body.data[1].error).toEqual({
      code: 'OutputImageSensitiveContentDetected',
      message: expect.stringMatching(/Request id: 02/),
    });
    expect(body.usage.generated_images).toBe(3);
  });

  it('stops at an internal error', async () => {
    const { body } = await create({ ...group, prompt: '[sim:item-error=2]' });
    expect(body.data.map((item: object) => Object.keys(item)[0])).toEqual(['url', 'url', 'error']);
    expect(body.data[2].error.code).toBe('InternalServiceError');
    expect(body.usage.generated_images).toBe(2);
  });

  it.each([
    ['item-moderation', 400, 'OutputImageSensitiveContentDetected'],
    ['item-error', 500, 'InternalServiceError'],
  ])('is an error when nothing comes out: %s', async (fault, status, code) => {
    const answer = await create({ prompt: `none [sim:${fault}]` });
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code });
    expect(harness.control.submissions('none')).toEqual({ submits: 1, creates: 0 });
  });

  it('can be streamed', async () => {
    const { text, headers } = await create({ ...group, stream: true, prompt: '[sim:item-moderation=1]' });
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(text.match(/^event: (.*)$/gm)).toEqual([
      'event: image_generation.partial_succeeded',
      'event: image_generation.partial_failed',
      'event: image_generation.partial_succeeded',
      'event: image_generation.partial_succeeded',
      'event: image_generation.completed',
    ]);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('validation', () => {
  it.each([
    ['an unknown model', { model: 'seedream-9' }, 404, 'InvalidEndpointOrModel.NotFound'],
    ['no model', { model: undefined }, 400, 'MissingParameter.model'],
    ['no prompt', { prompt: undefined }, 400, 'MissingParameter.prompt'],
    ['a reference that is not an image', { image: 'cat.png' }, 400, 'InvalidParameter.image'],
    ['an asterisk', { size: '2048*2048' }, 400, 'InvalidParameter.size'],
    ['an unknown response format', { response_format: 'png' }, 400, 'InvalidParameter.response_format'],
  ])('refuses %s', async (_title, body, status, code) => {
    const answer = await create(body);
    expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
  });

  it('ignores n, which does not exist here', async () => {
    expect((await create({ n: 3 })).body.data).toHaveLength(1);
  });
});
