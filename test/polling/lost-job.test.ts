import { describe, expect, it } from 'vitest';
import { isLostJob } from '../../src/polling/lost-job.ts';

const minute = 60_000;
const old = { misses: 5, elapsedMs: 10 * minute, expectedMs: minute };

describe('a job that the upstream does not know', () => {
  it.each<[string, Partial<typeof old>, boolean]>([
    ['five misses, long after the create', {}, true],
    ['four misses', { misses: 4 }, false],
    ['many misses right after the create', { misses: 100, elapsedMs: 30_000 }, false],
    ['just below five minutes', { elapsedMs: 5 * minute - 1 }, false],
    ['five minutes', { elapsedMs: 5 * minute }, true],
    ['while a slow model would still render', { expectedMs: 11 * minute }, false],
    ['after a slow model would have ended', { expectedMs: 10 * minute }, true],
  ])('%s', (_, over, isLost) => {
    expect(isLostJob({ ...old, ...over })).toBe(isLost);
  });
});
