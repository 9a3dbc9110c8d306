import { describe, expect, it } from 'vitest';
import type { ImageInput, ImageRequest } from '../../../src/models/request.ts';
import { providers } from '../../../src/providers/index.ts';
import { canned, fixture, imageIssue, imageRequest, providerContext } from '../support.ts';
import { imageTables } from '../vendor-tables.ts';

const { image } = providers['stability'] ?? {};
if (image === undefined) throw new Error('there are no images');

const prompt = 'a red cube';
const picture: ImageInput = {
  form: 'data',
  mediaType: 'image/png',
  base64: Buffer.from('PNG').toString('base64'),
};

const images = imageTables(image, { model: 'core' });

async function sentFor(request: Partial<ImageRequest>, model: string) {
  const upstream = canned({ json: fixture('stability/image') });
  const context = providerContext({ model, baseUrl: 'https://up.example', request: upstream.request });
  const result = await image?.generate(imageRequest(request), context);
  const [sent] = upstream.sent;
  const parts = await Promise.all(
    [...(sent?.form ?? [])].map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : await value.text(),
    ]),
  );
  return { result, sent, fields: Object.fromEntries(parts) as Record<string, string> };
}

describe('a request', () => {
  it.each<[string, Partial<ImageRequest>, string, string, Record<string, string>]>([
    ['text', {}, 'core', 'core', { prompt }],
    ['text with everything',
      { size: '1344x768', responseFormat: 'url', extra: { seed: 7, negative_prompt: 'rain', style_preset: 'anime', output_format: 'webp', cfg_scale: 4, user: 'u' } },
      'sd3.5-large', 'sd3',
      { prompt, model: 'sd3.5-large', aspect_ratio: '16:9', seed: '7', negative_prompt: 'rain', style_preset: 'anime', output_format: 'webp', cfg_scale: '4' }],
    ['what only Stable Diffusion has', { extra: { cfg_scale: 4, model: 'x', mode: 'y' } }, 'ultra', 'ultra', { prompt }],
    ['an image, which brings its ratio', { operation: 'edit', images: [picture], size: '1024x1024', extra: { strength: 0.6 } },
      'sd3.5-medium', 'sd3', { prompt, model: 'sd3.5-medium', mode: 'image-to-image', strength: '0.6', image: 'PNG' }],
    ['an image of ultra', { images: [picture], extra: { strength: 1 } }, 'ultra', 'ultra', { prompt, strength: '1', image: 'PNG' }],
  ])('of %s is a form', async (_, request, model, ...[path, expected]) => {
    expect(imageIssue(image, imageRequest(request), model)).toBeUndefined();
    const { sent, fields, result } = await sentFor(request, model);
    expect(sent).toMatchObject({
      method: 'POST',
      url: `https://up.example/v2beta/stable-image/generate/${path}`,
      headers: { authorization: 'Bearer test-key', accept: 'application/json' },
    });
    expect(fields).toEqual(expected);
    expect(result).toEqual({ images: [{ base64: 'aW1hZ2U=' }], facts: { images: 1 }, extra: {} });
  }); // prettier-ignore

  images.checks([
    ['an image of core', { images: [picture], extra: { strength: 1 } }, 'core', 'image'],
    ['two images', { images: [picture, picture], extra: { strength: 1 } }, 'ultra', 'image'],
    ['an image without a strength', { images: [picture] }, 'ultra', 'strength'],
    ['a mask', { images: [picture], mask: picture, extra: { strength: 1 } }, 'ultra', 'mask'],
    ['a ratio that it does not have', { size: '1024x768' }, 'ultra', 'size'],
    ['its own 3:2', { size: '1216x832' }, 'ultra', undefined],
    ['more pixels of core', { size: '1536x1024' }, 'core', undefined],
  ]);
});

images.isRefused([
  ['a field', { status: 400, json: fixture('stability/refused') }, 'rejected', 'invalid_input'],
  ['what it shows', { json: fixture('stability/filtered') }, 'rejected', 'moderation_output'],
  ['no image', { json: { finish_reason: 'SUCCESS' } }, 'ambiguous', 'internal'],
]);

it('names the field at fault, and waits for the minute in which nothing is accepted', async () => {
  const { refusalOf: refused } = images;
  expect((await refused({ status: 400, json: fixture('stability/refused') })).failure.field).toBe('prompt');
  const json = { name: 'rate_limit_exceeded', errors: ['m'] };
  expect((await refused({ status: 429, json })).retryAfterMs).toBe(60_000);
  expect((await refused({ status: 429, json, headers: { 'retry-after': '5' } })).retryAfterMs).toBe(5_000);
});
