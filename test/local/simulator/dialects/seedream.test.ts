import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readImage } from '../media/image-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness } from '../support.ts';

const v45 = 'doubao-seedream-4-5-251128';

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

  it('is marked unless the request says otherwise', async () => {
    const image = async (body: Record<string, unknown>): Promise<string> =>
      (await create({ response_format: 'b64_json', ...body })).body.data[0].b64_json;
    expect(await image({})).toBe(await image({ watermark: true }));
    expect(await image({})).not.toBe(await image({ watermark: false }));
  });
});

it.each([
  ['item-moderation', 400, 'OutputImageSensitiveContentDetected'],
  ['item-error', 500, 'InternalServiceError'],
])('is an error when nothing comes out: %s', async (fault, status, code) => {
  const answer = await create({ prompt: `none [sim:${fault}]` });
  expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code });
  expect(harness.control.submissions('none')).toEqual({ submits: 1, creates: 0 });
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
});
