import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPollDelayMs } from '../../src/domain/poll-schedule.ts';
import type { PollFacts } from '../../src/domain/poll-schedule.ts';

const minute = 60_000;
/** A job that usually takes two minutes and may take an hour; 0.5 means without jitter. */
const delay = (facts: Partial<PollFacts>) =>
  nextPollDelayMs({
    expectedMs: 2 * minute,
    elapsedMs: 0,
    remainingMs: 60 * minute,
    errors: 0,
    random: 0.5,
    ...facts,
  });

const milliseconds = fc.integer({ min: 0, max: 3 * 24 * 60 * minute });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const anyFacts: fc.Arbitrary<PollFacts> = fc.record(
  {
    expectedMs: fc.integer({ min: 1, max: 24 * 60 * minute }),
    elapsedMs: milliseconds,
    remainingMs: fc.integer({ min: -10 * minute, max: 3 * 24 * 60 * minute }),
    errors: fc.nat({ max: 5_000 }),
    progress: fc.double({ min: 0, max: 100, noNaN: true }),
    retryAfterMs: milliseconds,
    random,
  },
  { requiredKeys: ['expectedMs', 'elapsedMs', 'remainingMs', 'errors', 'random'] },
);

describe('the delay, whatever the facts', () => {
  it('is a whole number of milliseconds, never negative, never beyond what remains', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const ms = nextPollDelayMs(facts);
        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(Math.max(facts.remainingMs, 0));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same for the same facts', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(nextPollDelayMs(facts)).toBe(nextPollDelayMs({ ...facts }));
      }),
    );
  });

  it('is at least what the upstream asks for, unless the deadline comes before', () => {
    fc.assert(
      fc.property(anyFacts, milliseconds, (facts, retryAfterMs) => {
        const allowed = Math.max(facts.remainingMs - 1_000, 0);
        expect(nextPollDelayMs({ ...facts, retryAfterMs })).toBeGreaterThanOrEqual(
          Math.min(retryAfterMs, allowed),
        );
      }),
    );
  });

  it('differs by at most a fifth either way through jitter, and grows with it', () => {
    fc.assert(
      fc.property(anyFacts, random, random, (facts, one, other) => {
        const alone = { ...facts, remainingMs: 10 ** 12, retryAfterMs: 0 };
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const middle = nextPollDelayMs({ ...alone, random: 0.5 });
        const [early, late] = [low, high].map((value) => nextPollDelayMs({ ...alone, random: value }));
        expect(early).toBeLessThanOrEqual(late ?? 0);
        expect(early).toBeGreaterThanOrEqual(middle * 0.8 - 1);
        expect(late).toBeLessThanOrEqual(middle * 1.2 + 1);
      }),
    );
  });

  it('never shrinks as errors add up', () => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 1, max: 100 }), (facts, errors) => {
        expect(nextPollDelayMs({ ...facts, errors: errors + 1 })).toBeGreaterThanOrEqual(
          nextPollDelayMs({ ...facts, errors }),
        );
      }),
    );
  });

  it('never shrinks as a job without progress runs late', () => {
    fc.assert(
      fc.property(anyFacts, milliseconds, milliseconds, (facts, late, later) => {
        const { progress: _untold, ...silent } = { ...facts, errors: 0, remainingMs: 10 ** 12 };
        const elapsedMs = silent.expectedMs * 0.6 + late;
        expect(nextPollDelayMs({ ...silent, elapsedMs: elapsedMs + later })).toBeGreaterThanOrEqual(
          nextPollDelayMs({ ...silent, elapsedMs }),
        );
      }),
    );
  });

  it('grows with the time that the model usually takes', () => {
    fc.assert(
      fc.property(milliseconds, milliseconds, (expectedMs, more) => {
        expect(delay({ expectedMs: expectedMs + more, remainingMs: 10 ** 12 })).toBeGreaterThanOrEqual(
          delay({ expectedMs, remainingMs: 10 ** 12 }),
        );
      }),
    );
  });

  it('is within a minute and its jitter once the first question was asked', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { progress: _untold, retryAfterMs: _unasked, ...asked } = facts;
        const elapsedMs = Math.max(facts.elapsedMs, facts.expectedMs);
        expect(nextPollDelayMs({ ...asked, elapsedMs })).toBeLessThanOrEqual(72_000);
      }),
    );
  });
});

describe('a job of two minutes', () => {
  it.each<[string, Partial<PollFacts>, number]>([
    ['is first asked for at 60 % of its time', {}, 72_000],
    ['waits for the rest of these 60 % if it was asked for earlier', { elapsedMs: 60_000 }, 12_000],
    ['is asked for every tenth of its time, at most 10 s, around its end', { elapsedMs: 120_000 }, 10_000],
    ['is asked for less often in overtime', { elapsedMs: 5 * minute }, 15_000],
    ['is asked for once a minute when it is very late', { elapsedMs: 25 * minute }, 60_000],
    ['is asked for soon after an error', { elapsedMs: 120_000, errors: 1 }, 2_000],
    ['is left alone for longer after each further error', { elapsedMs: 120_000, errors: 4 }, 16_000],
    ['is asked for once a minute while errors last', { elapsedMs: 120_000, errors: 50 }, 60_000],
    ['is asked for a second before its deadline at the latest', { remainingMs: 5_000 }, 4_000],
    ['is asked for now when its deadline is past', { remainingMs: -1 }, 0],
    ['waits as long as the upstream wishes', { elapsedMs: 120_000, retryAfterMs: 90_000 }, 90_000],
  ])('%s', (_name, facts, expected) => {
    expect(delay(facts)).toBe(expected);
  });

  it('that is quicker than usual is asked for sooner, one that is slower later', () => {
    const elapsedMs = 30_000;
    const unknown = delay({ elapsedMs });
    expect(delay({ elapsedMs, progress: 90 })).toBeLessThan(unknown);
    expect(delay({ elapsedMs, progress: 12 })).toBeGreaterThan(unknown);
  });

  it('that has hardly begun is not extrapolated from', () => {
    expect(delay({ elapsedMs: 30_000, progress: 9 })).toBe(delay({ elapsedMs: 30_000 }));
  });

  it('is asked for about as often as it takes to notice its end soon: not hundreds of times', () => {
    let elapsedMs = 0;
    let polls = 0;
    while (elapsedMs < 2 * minute) {
      elapsedMs += delay({ elapsedMs });
      polls += 1;
    }
    expect(polls).toBeLessThanOrEqual(8);
    expect(elapsedMs).toBeLessThanOrEqual(2 * minute + 10_000);
  });
});

it('a job of three seconds is asked for every second', () => {
  expect(delay({ expectedMs: 3_000 })).toBe(1_800);
  expect(delay({ expectedMs: 3_000, elapsedMs: 2_000 })).toBe(1_000);
});
