import { describe, expect, it } from 'vitest';
import { imageFactsIssue } from '../../src/routing/image-facts-check.ts';
import { shapeOf } from '../../src/base/image-sizes.ts';
import { factsFor, passedOn } from '../../src/models/facts-of-request.ts';
import { imageFactsSchema, type ImageFacts } from '../../src/models/model-facts.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import type { ImageInput, ImageRequest } from '../../src/models/request.ts';
import { imageRequest } from '../providers/support.ts';
import { testOrigin } from '../support/test-origin.ts';

const image: ImageInput = { form: 'url', url: 'https://ex.com/a.png' };
const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'UE5H' };

const facts: ImageFacts = {
  fields: { size: true, quality: true },
  images: { max: 4 },
  references: { max: 2, mask: true },
  prompt: { characters: 20 },
  addresses: { images: ['https', 'data'], characters: 30 },
  sizes: {
    only: ['auto'],
    classes: { '1K': 1024 ** 2, '2K': 2048 ** 2 },
    ratios: ['1:1', '16:9'],
    pixels: { step: 16, side_max: 640, min: 256 * 256, longest: 2 },
  },
  qualities: ['low', 'high'],
  parameters: {
    output_format: { values: ['png', 'jpeg'] },
    style: { read: true },
    user: { sent_as: 'user_id' },
  },
  cases: [
    {
      when: { brings: ['references'] },
      facts: { images: { max: 1 }, parameters: { style: { values: [] } } },
    },
  ],
};

const issue = (over: Partial<ImageRequest>, own: ImageFacts = facts) => {
  const request = imageRequest(over);
  return imageFactsIssue(request, factsFor(request, own));
};

describe('the reasons for refusing an image request', () => {
  it.each<[Partial<ImageRequest>, string | undefined]>([
    [{}, undefined],
    [{ n: 4 }, undefined],
    [{ n: 5 }, 'n'],
    [{ n: 2, images: [image] }, 'n'],
    [{ images: [image, data] }, undefined],
    [{ images: [image, data, data] }, 'image'],
    [{ images: [{ form: 'url', url: 'http://ex.com/a.png' }] }, 'image'],
    [{ images: [{ form: 'url', url: `https://ex.com/${'a'.repeat(30)}` }] }, 'image'],
    [{ images: [image], mask: data }, undefined],
    [{ mask: data }, 'mask'],
    [{ prompt: 'x'.repeat(21) }, 'prompt'],
    [{ quality: 'high' }, undefined],
    [{ quality: 'hd' }, 'quality'],
    [{ extra: { output_format: 'webp' } }, 'output_format'],
    [{ extra: { style: 'any', unknown: 1 } }, undefined],
    [{ images: [image], extra: { style: 'any' } }, 'style'],
    [{ size: 'AUTO' }, undefined],
    [{ size: 'huge' }, 'size'],
  ])('%j: %s', (over, param) => {
    expect(issue(over)?.param).toBe(param);
  });

  it('do not include a field that is not sent', () => {
    const unsent = { sizes: { only: ['1K'] }, qualities: ['low'] };
    expect(issue({ size: '2K', quality: 'high' }, unsent)).toBeUndefined();
  });

  it('do not include values that the facts leave open', () => {
    const asked = { n: 9, images: [image, image, image], size: 'huge', quality: 'hd' };
    expect(issue({ ...asked, mask: data, prompt: 'x'.repeat(50) }, {})).toBeUndefined();
  });

  const fields = { size: true, quality: true };
  it.each<[ImageFacts, Partial<ImageRequest>, string]>([
    [{ references: { max: 0 } }, { images: [image] }, 'The model does not accept images.'],
    [{ references: { min: 1 } }, {}, 'The model edits images. Send one.'],
    [{ references: { mask: false } }, { images: [image], mask: data }, 'The model does not accept a mask.'],
    [{ required: ['strength'] }, {}, 'The model needs strength here.'],
    [{ required: ['size'] }, { extra: { strength: 1 } }, 'The model needs size here.'],
    [{ images: { max: 1 } }, { n: 2 }, 'The model renders one image at a time.'],
    [{ images: { only: [1, 4] } }, { n: 2 }, 'n must be one of 1, 4.'],
    [{ fields, qualities: [] }, { quality: 'low' }, 'The model does not accept a quality for this request.'],
    [
      { fields, sizes: { only: ['auto'], pixels: { step: 16, max: 4 * 1024 ** 2, longest: 3 } } },
      { size: '10x10' },
      'size must be auto, or <width>x<height> in multiples of 16 up to 4 megapixels no longer than 3:1.',
    ],
    [
      { fields, sizes: { classes: { '1K': 1024 ** 2 }, ratios: ['1:1'] } },
      { size: '10x10' },
      'size must be 1K, or pixels of about such an image in one of 1:1.',
    ],
  ])('%j in words', (own, over, message) => {
    expect(issue(over, own)?.message).toBe(message);
  });
});

describe('the meaning of a size', () => {
  it.each([
    ['auto', { word: 'auto' }],
    ['2k', { class: '2K' }],
    ['2048x2048', { class: '2K', ratio: '1:1' }],
    ['1360x768', { class: '1K', ratio: '16:9' }],
    ['1360x1000', undefined],
    ['512x256', { pixels: { width: 512, height: 256 } }],
    ['512x250', undefined],
    ['640x304', undefined],
    ['128x128', undefined],
    ['656x512', undefined],
    ['0x0', undefined],
  ])('%s: %j', (size, shape) => {
    expect(shapeOf(size, facts.sizes)).toEqual(shape);
  });

  it('is unchanged if nothing is known, with its pixels', () => {
    expect(shapeOf('3K', undefined)).toEqual({ word: '3K' });
    expect(shapeOf('8x9', undefined)).toEqual({ word: '8x9', pixels: { width: 8, height: 9 } });
  });

  it('the smallest class that is not smaller, if it is rounded up', () => {
    const sizes = { ...facts.sizes, pixels: undefined, rounded_up: true };
    expect(shapeOf('1500x1500', sizes)).toEqual({ class: '2K', ratio: '1:1' });
    expect(shapeOf('64x64', sizes)).toEqual({ class: '1K', ratio: '1:1' });
    expect(shapeOf('4096x4096', sizes)).toBeUndefined();
  });
});

it('the configuration overrides the table', () => {
  const table = { origin: testOrigin, models: [[/^m/, facts]] as const, others: {} };
  const own = servedFacts(table, {
    upstream: 'm1',
    facts: { references: { max: 3 }, sizes: { only: ['4K'] }, parameters: { mood: {} } },
  });
  expect(own).toMatchObject({ references: { max: 3, mask: true }, sizes: { only: ['4K'] } });
  expect(issue({ size: '4K', images: [image, image, image] }, own)).toBeUndefined();
  expect(issue({ size: '1K' }, own)?.param).toBe('size');
  const extra = { mood: 'calm', user: 'u', style: 's', unknown: 1 };
  expect(passedOn({ extra }, factsFor({ extra }, own))).toEqual({ mood: 'calm', user_id: 'u' });
});

it.each([{ seconds: {} }, { media: {} }, { sizes: { sides: 3 } }, { references: { min: 2, max: 1 } }])(
  '%j is refused as a fact of images',
  (value) => expect(imageFactsSchema.safeParse(value).success).toBe(false),
);
