import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPoll } from '../../src/domain/poll-schedule.ts';
import type { PollFacts } from '../../src/domain/poll-schedule.ts';
import { guessedTimes, learnedTimes, quantileOf, renderWindow } from '../../src/domain/render-times.ts';
import type { RenderTimes } from '../../src/domain/render-times.ts';

const minute = 60_000;

function learned(...milliseconds: number[]): RenderTimes {
  const times = learnedTimes(
    milliseconds.map((ms) => ({ ms, at: 0 })),
    0,
  );
  if (times === undefined) throw new Error('too few samples');
  return times;
}

/** 40 renders of 100 to 139 s. */
const usual = learned(...Array.from({ length: 40 }, (_, n) => 100_000 + n * 1_000));
/** 0.5 means without jitter. */
const facts = (change: Partial<PollFacts>): PollFacts => ({
  times: usual,
  elapsedMs: 0,
  remainingMs: 60 * minute,
  lists: true,
  polls: 0,
  errors: 0,
  isShared: false,
  random: 0.5,
  ...change,
});
const next = (change: Partial<PollFacts>) => nextPoll(facts(change));

const milliseconds = fc.integer({ min: 0, max: 3 * 24 * 60 * minute });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const anyTimes = fc.oneof(
  fc.integer({ min: 1, max: 24 * 60 * minute }).map(guessedTimes),
  fc
    .array(fc.integer({ min: 1, max: 60 * minute }), { minLength: 5, maxLength: 48 })
    .map((all) => learned(...all)),
);
const anyFacts: fc.Arbitrary<PollFacts> = fc.record(
  {
    times: anyTimes,
    elapsedMs: milliseconds,
    remainingMs: fc.integer({ min: -10 * minute, max: 3 * 24 * 60 * minute }),
    lists: fc.boolean(),
    polls: fc.nat({ max: 5_000 }),
    errors: fc.nat({ max: 5_000 }),
    isShared: fc.boolean(),
    progress: fc.double({ min: 0, max: 100, noNaN: true }),
    retryAfterMs: milliseconds,
    random,
  },
  {
    requiredKeys: ['times', 'elapsedMs', 'remainingMs', 'lists', 'polls', 'errors', 'isShared', 'random'],
  },
);

describe('the delay, whatever the facts', () => {
  it('is a whole number of milliseconds, never negative, never beyond what remains', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        const { delayMs } = nextPoll(any);
        expect(Number.isSafeInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(Math.max(any.remainingMs, 0));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same for the same facts', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        expect(nextPoll(any)).toEqual(nextPoll({ ...any }));
      }),
    );
  });

  it('is at least what the upstream asks for, unless the deadline comes before', () => {
    fc.assert(
      fc.property(anyFacts, milliseconds, (any, retryAfterMs) => {
        const allowed = Math.max(any.remainingMs - 500, 0);
        expect(nextPoll({ ...any, retryAfterMs }).delayMs).toBeGreaterThanOrEqual(
          Math.min(retryAfterMs, allowed),
        );
      }),
    );
  });

  it("never shrinks as errors of the job's own add up", () => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 1, max: 100 }), (any, errors) => {
        const own = { ...any, isShared: false };
        expect(nextPoll({ ...own, errors: errors + 1 }).delayMs).toBeGreaterThanOrEqual(
          nextPoll({ ...own, errors }).delayMs,
        );
      }),
    );
  });

  it('never lets an attempt stay for the stretch in which no render ends', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        const { progress: _progress, retryAfterMs: _wish, ...plain } = { ...any, errors: 0 };
        const { delayMs, isFar } = nextPoll(plain);
        const isEarly = plain.elapsedMs < renderWindow(plain.times).earliestMs - 1_500;
        expect(isFar || !isEarly || delayMs <= 8_000).toBe(true);
      }),
    );
  });
});

describe('renders of 100 to 139 seconds', () => {
  it('are left to a timer on the server until just before the earliest likely end', () => {
    const { delayMs, isFar } = next({});
    expect(isFar).toBe(true);
    expect(delayMs).toBeGreaterThan(90_000);
    expect(delayMs).toBeLessThan(100_000);
  });

  it('are asked about every second by an attempt that stays, where the upstream lists', () => {
    expect(next({ elapsedMs: 110_000 })).toEqual({ delayMs: 1_000, isFar: false });
    expect(next({ elapsedMs: 139_000, polls: 60 })).toEqual({ delayMs: 1_000, isFar: false });
  });

  it('are asked about less often once nearly all of their kind had ended', () => {
    expect(next({ elapsedMs: 200_000 })).toEqual({ delayMs: 15_000, isFar: true });
    expect(next({ elapsedMs: 25 * minute }).delayMs).toBe(60_000);
  });

  it.each<[string, Partial<PollFacts>, number]>([
    ['after an error of its own', { errors: 1 }, 2_000],
    ['after four of them', { errors: 4 }, 16_000],
    ['while they last', { errors: 50 }, 60_000],
    ["after an error of the credential's, which its poller paces", { errors: 50, isShared: true }, 100],
    ['when the deadline is past', { remainingMs: -1 }, 0],
    ['when the upstream names a delay', { retryAfterMs: 90_000 }, 90_000],
  ])('%s', (_name, change, expected) => {
    expect(next({ elapsedMs: 120_000, ...change }).delayMs).toBe(expected);
  });
});

/** When the questions about one job come, up to its end. */
function questions(times: RenderTimes, renderMs: number, change: Partial<PollFacts> = {}) {
  let elapsedMs = 0;
  let polls = 0;
  while (elapsedMs < renderMs) {
    elapsedMs += nextPoll(facts({ times, elapsedMs, polls, ...change })).delayMs;
    polls += 1;
  }
  return { polls, lateMs: elapsedMs - renderMs };
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

describe('an upstream without a list', () => {
  it.each([
    { name: 'a narrow spread', times: usual },
    { name: 'a wide spread', times: learned(...Array.from({ length: 40 }, (_, n) => 20_000 + n * 2_500)) },
    { name: 'short renders', times: learned(...Array.from({ length: 40 }, (_, n) => 8_000 + n * 200)) },
    { name: 'nothing but a guess that fits', times: guessedTimes(60_000) },
  ])('costs at most 12 questions and is late by at most 8 % of the render, with $name', ({ times }) => {
    const renders = Array.from({ length: 95 }, (_, n) => quantileOf(times, 0.03 + n / 100));
    const seen = renders.map((renderMs) => ({ renderMs, ...questions(times, renderMs, { lists: false }) }));
    expect(Math.max(...seen.map(({ polls }) => polls))).toBeLessThanOrEqual(12);
    expect(medianOf(seen.map(({ lateMs, renderMs }) => lateMs / renderMs))).toBeLessThanOrEqual(0.08);
  });
});

describe('an upstream with a list', () => {
  it('is late by a second or so, whatever the render time', () => {
    for (const renderMs of [101_000, 120_000, 139_000]) {
      expect(questions(usual, renderMs).lateMs).toBeLessThanOrEqual(1_000);
    }
  });
});

describe('a guess', () => {
  it('is corrected by what the upstream reports, once that is worth extrapolating from', () => {
    const unknown = { times: guessedTimes(2 * minute), elapsedMs: 30_000 };
    expect(next({ ...unknown, progress: 9 })).toEqual(next(unknown));
    // 12 % in 30 s: 250 s.
    expect(next({ ...unknown, progress: 12 }).delayMs).toBeGreaterThan(next(unknown).delayMs);
    expect(next({ ...unknown, progress: 90 })).toEqual({ delayMs: 1_000, isFar: false });
  });

  it('of three seconds begins at once and stays', () => {
    expect(next({ times: guessedTimes(3_000) }).isFar).toBe(false);
    expect(next({ times: guessedTimes(3_000) }).delayMs).toBeLessThanOrEqual(1_000);
  });
});
