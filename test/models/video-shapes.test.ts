import { describe, expect, it } from 'vitest';
import { factsFor } from '../../src/models/facts-of-request.ts';
import type { ModelFacts } from '../../src/models/model-facts.ts';
import { shapeOfPixels, shapesInWords, videoShapes } from '../../src/models/video-shapes.ts';
import { providers } from '../../src/providers/index.ts';
import { seedanceFamilies } from '../../src/providers/shared/seedance-models.ts';
import { estimateSeedanceTokens } from '../../src/providers/shared/seedance-pricing.ts';
import { videoRequest } from '../providers/support.ts';

const rows = Object.entries(providers).flatMap(([vendor, { video }]) => {
  if (video === undefined || typeof video.facts === 'function') return [];
  const { models, others } = video.facts;
  return [...models.map(([name, facts]) => [name.source, facts] as const), ['others', others] as const].map(
    ([name, facts]) => [`${vendor} ${name}`, facts] as const,
  );
});

const shapesOf = (facts: ModelFacts, lists = { resolutions: [], ratios: [] }) =>
  videoShapes(lists, (pair) => [factsFor({ extra: {}, ...pair }, facts)]);

describe.each(rows)('%s', (_name, facts) => {
  const shapes = shapesOf(facts);

  it('renders its own pixel sizes, but none that are far from all of them', () => {
    for (const { size } of shapes) expect(shapeOfPixels(size, shapes)?.size).toBe(size);
    expect(shapeOfPixels('500x1900', shapes)).toBeUndefined();
    expect(shapeOfPixels('99x9999', shapes)).toBeUndefined();
  });

  it('lists known pixel sizes as the table does', () => {
    for (const [resolution, sizes] of Object.entries(facts.shapes ?? {}))
      for (const [ratio, size] of Object.entries(sizes))
        expect(shapeOfPixels(size, shapes)).toEqual({ resolution, ratio, size });
  });
});

it.each(seedanceFamilies.map(([name]) => name.source.replaceAll('(?:fast|mini)', 'fast')))(
  '%s: pixels cost what they are',
  (model) => {
    const facts = providers['ark']?.video?.facts;
    if (facts === undefined || typeof facts === 'function') throw new Error('no table');
    const shapes = shapesOf(facts.models.find(([name]) => name.test(model))?.[1] ?? {});
    expect(shapes.length).toBeGreaterThan(11);
    for (const { size, ...pair } of shapes) {
      const [width = 0, height = 0] = size.split('x').map(Number);
      const tokens = estimateSeedanceTokens(
        videoRequest({ duration: 5 }),
        { ...pair, durationSeconds: 5 },
        model,
      );
      expect(tokens).toBe(BigInt(Math.floor((width * height * (24 * 5 + 1)) / 1024)));
    }
  },
);

describe('a model whose pixels are not known', () => {
  const shapes = shapesOf({}, { resolutions: [], ratios: [] });

  it.each([
    ['1280x720', '720p', '16:9'],
    ['854x480', '480p', '16:9'],
    ['832x480', '480p', '16:9'],
    ['1080x1920', '1080p', '9:16'],
    ['720x720', '720p', '1:1'],
    ['960x960', '720p', '1:1'],
    ['640x480', '480p', '4:3'],
    ['1112x834', '720p', '4:3'],
    ['2560x1080', '1080p', '21:9'],
    ['3840x2160', '4k', '16:9'],
  ])('%s is %s at %s', (size, resolution, ratio) => {
    expect(shapeOfPixels(size, shapes)).toMatchObject({ resolution, ratio });
  });

  it.each(['123x456', '1280x768', '1024x1024', '9999x9999', '1280', 'wide'])('%s is none', (size) => {
    expect(shapeOfPixels(size, shapes)).toBeUndefined();
  });
});

it('resolutions take precedence over pixels if two shapes are equally near', () => {
  const shapes = shapesOf({ resolutions: ['540p', '720p'], ratios: ['1:1'] });
  expect(shapeOfPixels('720x720', shapes)).toMatchObject({ resolution: '720p' });
});

it('the list contains the values that model, request and configuration have in common', () => {
  const facts: ModelFacts = {
    fields: { resolution: true, ratio: true },
    resolutions: ['480p', '720p'],
    ratios: ['16:9', '1:1', 'adaptive'],
    shapes: { '480p': { '16:9': '864x496' } },
    cases: [{ when: { resolution: ['480p'] }, facts: { ratios: ['16:9'] } }],
  };
  const words = (lists: { resolutions: string[]; ratios: string[] }) =>
    shapesInWords(videoShapes(lists, (pair) => [factsFor({ extra: {}, ...pair }, facts)]));
  expect(words({ resolutions: [], ratios: [] })).toBe('480p: 864x496; 720p: 1280x720, 720x720, 960x960');
  expect(words({ resolutions: ['720P', '1080p'], ratios: ['16:9'] })).toBe('720P: 1280x720');
});
