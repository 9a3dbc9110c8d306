import { describe, expect, it } from 'vitest';
import type { MediaFacts } from '../../src/models/media-facts.ts';
import { needsMeasuring, withMeasured, withMeasuredImages } from '../../src/routing/measured-facts.ts';

const film: MediaFacts = { mediaType: 'video/mp4', width: 1280, height: 704, seconds: 5.04 };
const shape = { resolution: '720p', ratio: '16:9', size: '1280x720' };

describe('a fact that the upstream omitted', () => {
  it.each([
    ['everything', {}, true],
    ['the length', { resolution: '720p', ratio: '16:9' }, true],
    ['the picture', { durationSeconds: 5 }, true],
    ['the ratio', { durationSeconds: 5, resolution: '720p' }, true],
    ['nothing, by its pixels', { durationSeconds: 5, size: '1280x720' }, false],
    ['nothing, by its shape', { durationSeconds: 5, resolution: '720p', ratio: '16:9' }, false],
  ])('%s', (_, facts, expected) => {
    expect(needsMeasuring('video', facts)).toBe(expected);
  });
});

it('is taken from the file, with the model’s shape for its pixels', () => {
  expect(withMeasured({ usage: { completionTokens: 9 } }, film, () => shape)).toEqual({
    usage: { completionTokens: 9 },
    durationSeconds: 5,
    size: '1280x704',
    resolution: '720p',
    ratio: '16:9',
    measured: ['duration', 'size', 'resolution', 'ratio'],
  });
});

it('does not replace reported facts', () => {
  expect(withMeasured({ durationSeconds: 6, resolution: '480p' }, film, () => shape)).toEqual({
    durationSeconds: 6,
    resolution: '480p',
    size: '1280x704',
    measured: ['size'],
  });
});

it('contains no resolution if the pixels match no shape of the model', () => {
  expect(withMeasured({}, film, () => undefined)).toEqual({
    durationSeconds: 5,
    size: '1280x704',
    measured: ['duration', 'size'],
  });
});

it.each([
  [5.0417, 5],
  [4.9, 5],
  [5.16, 5.16],
  [0.1, 0.1],
  [12.3456, 12.35],
])('%s s are %s s', (seconds, expected) => {
  expect(withMeasured({}, { mediaType: 'video/mp4', seconds }, () => undefined).durationSeconds).toBe(
    expected,
  );
});

it.each([undefined, { mediaType: 'image/png', width: 1, height: 1 }, { mediaType: 'video/mp4' }])(
  'nothing is added for %j',
  (media) => {
    expect(withMeasured({}, media, () => shape)).toEqual({});
  },
);

describe('images', () => {
  const picture = (side: number): MediaFacts => ({ mediaType: 'image/png', width: side, height: side });

  it.each([
    ['no size', { images: 2, quality: 'high' }, true],
    ['one size for all', { images: 2, size: '1024x1024' }, false],
    ['a size for each', { images: 2, groups: [{ images: 1, size: '1x1' }, { images: 1 }] }, false],
  ])('reported with %s', (_, facts, expected) => {
    expect(needsMeasuring('image', facts)).toBe(expected);
  });

  it('of different sizes each keep their own pixels, in any order', () => {
    const facts = { images: 3, quality: 'high' };
    const expected = {
      ...facts,
      groups: [
        { images: 2, size: '1024x1024', quality: 'high' },
        { images: 1, size: '2048x2048', quality: 'high' },
      ],
      measured: ['size'],
    };
    expect(withMeasuredImages(facts, [picture(1024), picture(2048), picture(1024)])).toEqual(expected);
    expect(withMeasuredImages(facts, [picture(2048), picture(1024), picture(1024)])).toEqual(expected);
  });

  it('of the same size share one entry', () => {
    expect(withMeasuredImages({ images: 2 }, [picture(8), picture(8)])).toEqual({
      images: 2,
      size: '8x8',
      measured: ['size'],
    });
  });

  it.each([[[]], [[undefined, undefined]], [[film]]])('get no size from %j', (media) => {
    expect(withMeasuredImages({ images: 1 }, media)).toEqual({ images: 1 });
  });
});
