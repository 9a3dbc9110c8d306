import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import type { EstimateOutput } from '../../../src/providers/provider.ts';
import { arkVideo } from '../../../src/providers/ark/ark-video.ts';
import { videoRequest } from '../support.ts';

const pro1 = 'doubao-seedance-1-0-pro-250528';
const pro15 = 'doubao-seedance-1-5-pro-251215';
const pro2 = 'dreamina-seedance-2-0-260128';

function estimate(output: Partial<EstimateOutput>, model?: string, request: Partial<VideoRequest> = {}) {
  const full = { resolution: '720p', ratio: '16:9', durationSeconds: 5, ...output };
  return arkVideo.estimateTokens?.(videoRequest(request), full, model);
}

describe('the formula yields the observed values', () => {
  it.each<[Partial<EstimateOutput>, string, bigint]>([
    [{ resolution: '480p' }, pro2, 50_638n],
    [{ resolution: '480p', durationSeconds: 10 }, pro2, 100_858n],
    [{ resolution: '480p', ratio: '1:1' }, pro2, 48_400n],
    [{ resolution: '480p', ratio: '1:1' }, pro1, 48_400n],
    [{ resolution: '720p' }, pro15, 108_900n],
    [{ resolution: '1080p' }, pro1, 246_840n],
  ])('%j of %s is %s', (output, model, tokens) => {
    expect(estimate(output, model)).toBe(tokens);
  });
});

it.each([1e307, 1e308, Number.POSITIVE_INFINITY])('a length of %s s is unknown', (durationSeconds) => {
  expect(estimate({ durationSeconds }, pro2)).toBeUndefined();
});

it('input videos add up to 15 s, and at least what 5 s were observed to cost', () => {
  const tokens = estimate({}, pro2, { videos: ['https://ex.com/a.mp4'] });
  expect(tokens).toBe((1280n * 720n * (24n * 5n + 1n + 24n * 15n)) / 1024n);
  expect(tokens).toBeGreaterThan(216_900n);
});

it('2.5 accepts twice as much video, and renders at the sizes of 2.0', () => {
  const pro25 = 'doubao-seedance-2-5-260628';
  expect(estimate({ resolution: '1080p' }, pro25)).toBe(245_025n);
  const longest = { resolution: '720p', durationSeconds: 30 };
  const clip = { videos: ['https://ex.com/a.mp4'] } as const;
  expect(estimate(longest, pro25, clip)).toBe((1280n * 720n * (24n * 30n + 1n + 24n * 30n)) / 1024n);
});

it('input images and sound cost nothing', () => {
  const input = { references: ['https://ex.com/a.png'], audios: ['https://ex.com/a.wav'] } as const;
  expect(estimate({}, pro2, input)).toBe(estimate({}, pro2));
});

it('an unknown model has the larger of the two sizes', () => {
  expect(estimate({ resolution: '720p' })).toBe(108_900n);
  expect(estimate({ resolution: '1080p' })).toBe(246_840n);
  expect(estimate({ resolution: '1080p' }, 'ep-2026-x')).toBe(246_840n);
});

it('4k exists if the model renders it', () => {
  expect(estimate({ resolution: '4k' }, pro2)).toBe((3840n * 2160n * 121n) / 1024n);
  expect(estimate({ resolution: '4K', ratio: '21:9' }, pro2)).toBe((3840n * 1646n * 121n) / 1024n);
  expect(estimate({ resolution: '4k' }, pro1)).toBeUndefined();
});

it('a draft is billed at 480p', () => {
  expect(estimate({ resolution: '480p' }, pro15, { draft: true })).toBe(50_638n);
  expect(estimate({ resolution: '1080p' }, pro15, { draft: true })).toBe(50_638n);
});

it('frames are billed as given', () => {
  expect(estimate({ resolution: '480p' }, pro1, { extra: { frames: 289 } })).toBe(
    (864n * 480n * 289n) / 1024n,
  );
});

it('values that the formula does not cover are undefined', () => {
  expect(estimate({ resolution: '540p' }, pro2)).toBeUndefined();
  expect(estimate({ ratio: '2:1' }, pro2)).toBeUndefined();
});

it('an open value is priced as the worst case', () => {
  expect(estimate({ ratio: 'adaptive' }, pro2)).toBe((1112n * 834n * 121n) / 1024n);
  expect(estimate({ resolution: '', ratio: '' }, pro1)).toBe(246_840n);
  expect(estimate({ durationSeconds: 0 }, pro2)).toBe(estimate({ durationSeconds: 15 }, pro2));
});

it('an open request never costs less than any choice in it', () => {
  const ratio = fc.constantFrom('16:9', '4:3', '1:1', '3:4', '9:16', '21:9');
  const resolution = fc.constantFrom('480p', '720p', '1080p');
  const model = fc.constantFrom(pro1, pro15, pro2);
  fc.assert(
    fc.property(
      ratio,
      resolution,
      fc.integer({ min: 2, max: 12 }),
      model,
      (...[chosen, size, seconds, name]) => {
        const concrete = estimate({ ratio: chosen, resolution: size, durationSeconds: seconds }, name) ?? 0n;
        expect(
          estimate({ ratio: 'adaptive', resolution: size, durationSeconds: seconds }, name),
        ).toBeGreaterThanOrEqual(concrete);
        expect(
          estimate({ ratio: chosen, resolution: size, durationSeconds: seconds }),
        ).toBeGreaterThanOrEqual(concrete);
      },
    ),
  );
});
