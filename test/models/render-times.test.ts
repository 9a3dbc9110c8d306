import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  guessedTimes,
  learnedTimes,
  quantileOf,
  remainingTime,
  renderedOutput,
  renderWindow,
} from '../../src/models/render-times.ts';
import { testRequest } from '../routing/support.ts';

const day = 24 * 3_600_000;
const now = 1_000 * day;
const samplesOf = (times: readonly number[], at = now) => times.map((ms) => ({ ms, at }));

const hostile = fc.record({
  ms: fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -1, 0, 1e300)),
  at: fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -Infinity)),
});

describe('the learned times', () => {
  it('are empty with fewer than five samples', () => {
    expect(learnedTimes(samplesOf([1, 2, 3, 4]), now)).toBeUndefined();
    expect(learnedTimes(samplesOf([1, 2, 3, 4, 5]), now)?.samples).toBe(5);
  });

  it('have the right median', () => {
    const times = learnedTimes(samplesOf([50, 10, 30, 20, 40]), now) ?? guessedTimes(1);
    expect(quantileOf(times, 0.5)).toBeCloseTo(30);
    expect(quantileOf(times, 0)).toBe(10);
    expect(quantileOf(times, 1)).toBe(50);
    expect(quantileOf(times, 0.4)).toBeCloseTo(25);
  });

  it('follow the newer samples if the model became faster', () => {
    const old = samplesOf(
      Array.from({ length: 20 }, () => 100_000),
      now - 15 * day,
    );
    const fresh = samplesOf(Array.from({ length: 5 }, () => 20_000));
    const times = learnedTimes([...old, ...fresh], now) ?? guessedTimes(1);
    expect(quantileOf(times, 0.5)).toBe(20_000);
  });

  it('keep the times of a model that was not used for long', () => {
    const old = samplesOf([1_000, 2_000, 3_000, 4_000, 5_000], now - 80 * day);
    expect(quantileOf(learnedTimes(old, now) ?? guessedTimes(1), 0.5)).toBeCloseTo(3_000);
  });

  it('survive clock jumps: future times count like current ones', () => {
    const ahead = samplesOf([100, 100, 100, 100, 100], now + 400 * day);
    const here = samplesOf([200, 200, 200, 200, 200, 200]);
    expect(quantileOf(learnedTimes([...ahead, ...here], now) ?? guessedTimes(1), 0.6)).toBe(200);
  });

  it('are finite, ordered and positive, whatever is stored', () => {
    fc.assert(
      fc.property(
        fc.array(hostile, { maxLength: 60 }),
        fc.integer({ min: 0, max: 5 * now }),
        (samples, at) => {
          const times = learnedTimes(samples, at);
          if (times === undefined) return;
          const quantiles = [0, 0.05, 0.5, 0.9, 0.99, 1].map((share) => quantileOf(times, share));
          expect(quantiles.every((ms) => Number.isFinite(ms) && ms > 0)).toBe(true);
          expect(quantiles).toEqual(quantiles.toSorted((one, other) => one - other));
          const { earliestMs, latestMs } = renderWindow(times);
          expect(earliestMs).toBeLessThanOrEqual(latestMs);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the window', () => {
  it('is wider the fewer samples there are', () => {
    const few = renderWindow(
      learnedTimes(samplesOf(Array.from({ length: 5 }, () => 100)), now) ?? guessedTimes(1),
    );
    const many = renderWindow(
      learnedTimes(samplesOf(Array.from({ length: 40 }, () => 100)), now) ?? guessedTimes(1),
    );
    expect(few.earliestMs).toBeLessThan(many.earliestMs);
    expect(few.latestMs).toBeGreaterThan(many.latestMs);
  });
});

describe('the remaining time', () => {
  const times = learnedTimes(samplesOf([10_000, 20_000, 30_000, 40_000, 50_000]), now) ?? guessedTimes(1);

  it('is based on renders that took longer', () => {
    expect(remainingTime(times, 0, 0.5)).toBeCloseTo(30_000);
    expect(remainingTime(times, 35_000, 0.5)).toBeCloseTo(10_000);
  });

  it('is unknown once hardly any render took longer', () => {
    expect(remainingTime(times, 50_000, 0.5)).toBeUndefined();
  });
});

describe('kinds of output', () => {
  it('are limited in number, whatever callers send', () => {
    const words = new Set<string>();
    fc.assert(
      fc.property(fc.string(), fc.oneof(fc.double(), fc.integer()), (resolution, duration) => {
        words.add(renderedOutput({ ...testRequest, resolution, duration }).replace(/^\d{1,4}[pk]/i, 'known'));
      }),
      { numRuns: 2_000 },
    );
    expect(words.size).toBeLessThan(80);
  });

  it('distinguish resolutions and durations', () => {
    const named = [
      { resolution: '720p', duration: 5 },
      { resolution: '1080P', duration: 12 },
      { resolution: 'any; drop', duration: -3 },
    ].map((fields) => renderedOutput({ ...testRequest, ...fields }));
    expect(named).toEqual(['720p/5', '1080p/15', 'other/any']);
  });
});
