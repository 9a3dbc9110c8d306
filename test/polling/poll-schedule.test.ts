import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPoll, type PollFacts } from '../../src/polling/poll-schedule.ts';
import { guessedTimes, learnedTimes, quantileOf, renderWindow } from '../../src/models/render-times.ts';
import type { RenderTimes } from '../../src/models/render-times.ts';

const minute = 60_000;

function learned(...milliseconds: number[]): RenderTimes {
  const times = learnedTimes(
    milliseconds.map((ms) => ({ ms, at: 0 })),
    0,
  );
  if (times === undefined) throw new Error('too few samples');
  return times;
}

const usual = learned(...Array.from({ length: 40 }, (_, n) => 100_000 + n * 1_000));
/** The random value 0.5 means that there is no jitter. */
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
  it('is a whole number of milliseconds, never negative, and never longer than the remaining time', () => {
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

  it('is at least what the upstream asks for, unless the deadline comes first', () => {
    fc.assert(
      fc.property(anyFacts, milliseconds, (any, retryAfterMs) => {
        const allowed = Math.max(any.remainingMs - 500, 0);
        expect(nextPoll({ ...any, retryAfterMs }).delayMs).toBeGreaterThanOrEqual(
          Math.min(retryAfterMs, allowed),
        );
      }),
    );
  });

  it('never shrinks as errors of the job itself add up', () => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 1, max: 100 }), (any, errors) => {
        const own = { ...any, isShared: false };
        expect(nextPoll({ ...own, errors: errors + 1 }).delayMs).toBeGreaterThanOrEqual(
          nextPoll({ ...own, errors }).delayMs,
        );
      }),
    );
  });

  it('never makes an attempt wait while no render can end', () => {
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

  it('are polled every second by an attempt that stays open, if the upstream lists jobs', () => {
    expect(next({ elapsedMs: 110_000 })).toEqual({ delayMs: 1_000, isFar: false });
    expect(next({ elapsedMs: 139_000, polls: 60 })).toEqual({ delayMs: 1_000, isFar: false });
  });

  it('are polled less often once nearly all of their kind would have ended', () => {
    // The attempt stays in the worker, because two heartbeats per minute cost less than four timers.
    expect(next({ elapsedMs: 200_000 })).toEqual({ delayMs: 15_000, isFar: false });
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

function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

describe('an upstream without a list', () => {
  const even = (from: number, to: number) => (random: number) => from + (to - from) * random;
  const hump = (random: number) => 60_000 * ((random + 0.02) / (1.02 - random)) ** 0.3;
  const twoModes = (random: number) =>
    random < 0.5 ? even(11_000, 13_000)(2 * random) : even(100_000, 120_000)(2 * random - 1);

  function observe(draw: (random: number) => number, known?: RenderTimes) {
    const random = randomOf(42);
    const times = known ?? learned(...Array.from({ length: 48 }, () => draw(random())));
    const earliestMs = Math.min(...times.points.map(({ ms }) => ms));
    const latestMs = Math.max(...times.points.map(({ ms }) => ms));
    const all = Array.from({ length: 500 }, () => draw(random()))
      .filter((renderMs) => renderMs >= earliestMs && renderMs <= latestMs)
      .map((renderMs) => ({ renderMs, ...questions(times, renderMs, { lists: false, random: random() }) }));
    const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
    return {
      questionsMax: Math.max(...all.map(({ polls }) => polls)),
      questions: mean(all.map(({ polls }) => polls)),
      lag: mean(all.map(({ lateMs, renderMs }) => lateMs / renderMs)),
      medianLag: medianOf(all.map(({ lateMs, renderMs }) => lateMs / renderMs)),
    };
  }

  it.each<[string, (random: number) => number, number]>([
    ['a narrow spread', even(58_000, 62_000), 0.01],
    ['± 20 %', even(32_000, 48_000), 0.03],
    ['a wide spread', even(20_000, 300_000), 0.14],
    ['a hump with a long tail', hump, 0.14],
    ['two modes', twoModes, 0.1],
    ['short renders', even(8_000, 16_000), 0.06],
  ])('costs at most 12 questions for each job, with %s', (_, draw, lag) => {
    const seen = observe(draw);
    expect(seen.questionsMax).toBeLessThanOrEqual(12);
    expect(seen.questions).toBeLessThanOrEqual(8);
    expect(seen.lag).toBeLessThanOrEqual(lag);
  });

  it('notices most ends within 8 % of the render time, unless it varies by more than a factor of four', () => {
    for (const draw of [even(58_000, 62_000), even(32_000, 48_000), even(20_000, 80_000), twoModes]) {
      expect(observe(draw).medianLag).toBeLessThanOrEqual(0.08);
    }
  });

  it('is hardly polled between two modes', () => {
    const random = randomOf(42);
    const times = learned(...Array.from({ length: 48 }, () => twoModes(random())));
    const before = questions(times, 13_500, { lists: false }).polls;
    expect(questions(times, 95_000, { lists: false }).polls - before).toBeLessThanOrEqual(3);
  });

  it('costs as little with only a fitting guess', () => {
    const seen = observe(even(35_000, 85_000), guessedTimes(60_000));
    expect(seen.questionsMax).toBeLessThanOrEqual(12);
    expect(seen.medianLag).toBeLessThanOrEqual(0.08);
  });

  it('never costs more than 12 polls for a job that ends within the learned times, whatever they are', () => {
    fc.assert(
      fc.property(anyTimes, fc.double({ min: 0, max: 1, noNaN: true }), random, (times, share, chance) => {
        const renderMs = quantileOf(times, share);
        const remainingMs = 10 * 24 * 60 * minute;
        expect(
          questions(times, renderMs, { lists: false, random: chance, remainingMs }).polls,
        ).toBeLessThanOrEqual(12);
      }),
      { numRuns: 500 },
    );
  });

  it('is rarely polled about an overdue job', () => {
    const inTime = questions(usual, 139_000, { lists: false }).polls;
    expect(questions(usual, 60 * minute, { lists: false }).polls - inTime).toBeLessThanOrEqual(35);
    expect(next({ lists: false, elapsedMs: 20 * minute, polls: 20 })).toEqual({
      delayMs: 2 * minute,
      isFar: true,
    });
  });

  it('lets an attempt wait between two polls, once such renders may end', () => {
    expect(next({ lists: false })).toMatchObject({ isFar: true });
    expect(next({ lists: false, elapsedMs: 110_000, polls: 3 })).toMatchObject({ isFar: false });
  });
});

describe('an upstream with a list', () => {
  it('notices an end about a second late, whatever the render time', () => {
    for (const renderMs of [101_000, 120_000, 139_000]) {
      expect(questions(usual, renderMs).lateMs).toBeLessThanOrEqual(1_000);
    }
  });
});

describe('a guess', () => {
  it('is corrected by the reported progress, once that is worth extrapolating from', () => {
    const unknown = { times: guessedTimes(2 * minute), elapsedMs: 30_000 };
    expect(next({ ...unknown, progress: 9 })).toEqual(next(unknown));
    expect(next({ ...unknown, progress: 12 }).delayMs).toBeGreaterThan(next(unknown).delayMs);
    expect(next({ ...unknown, progress: 90 })).toEqual({ delayMs: 1_000, isFar: false });
  });

  it('of three seconds starts polling at once', () => {
    expect(next({ times: guessedTimes(3_000) }).isFar).toBe(false);
    expect(next({ times: guessedTimes(3_000) }).delayMs).toBeLessThanOrEqual(1_000);
  });
});
