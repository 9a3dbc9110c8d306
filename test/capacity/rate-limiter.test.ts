import { describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import { createSubmitLimiter } from '../../src/capacity/submit-limiter.ts';

/** Sleeping advances the simulated clock. */
function world(rate: number) {
  let clock = 5_000;
  const rates = { perSecond: rate };
  const changes: { readonly at: number; readonly to: number }[] = [];
  const limiter = createRateLimiter({
    perSecond: () => rates.perSecond,
    monotonic: () => clock,
    async sleep(ms) {
      clock += ms;
      for (const change of changes) if (change.at <= clock) rates.perSecond = change.to;
    },
  });
  return {
    limiter,
    changes,
    pass: (ms: number) => void (clock += ms),
    times: async (count: number): Promise<number[]> => {
      const at: number[] = [];
      for (let n = 0; n < count; n += 1) {
        await limiter.take();
        at.push(Math.round(clock - 5_000));
      }
      return at;
    },
  };
}

describe('the limit of requests per second', () => {
  it('allows a burst of one second, and one token per interval after that', async () => {
    expect(await world(4).times(8)).toEqual([0, 0, 0, 0, 250, 500, 750, 1000]);
    expect(await world(0.5).times(3)).toEqual([0, 2000, 4000]);
  });

  it.each([0.001, 1_000_000])('applies at the smallest and at the largest rate (%s)', async (rate) => {
    const intervalMs = 1000 / rate;
    const burst = Math.max(1, rate);
    const { limiter, times, pass } = world(rate);
    expect(await times(1)).toEqual([0]);
    for (let n = 1; n < burst; n += 1) await limiter.take();
    const [next = 0] = await times(1);
    expect(next).toBeCloseTo(intervalMs, 0);
    pass(intervalMs);
    expect((await times(1))[0]).toBeCloseTo(2 * intervalMs, 0);
  });

  it('follows a rate that is raised or lowered while a caller waits', async () => {
    const raised = world(0.001);
    raised.changes.push({ at: 7_000, to: 10 });
    expect((await raised.times(2))[1]).toBeLessThan(3_200);
    const lowered = world(1);
    lowered.changes.push({ at: 5_500, to: 0.1 });
    expect(await lowered.times(3)).toEqual([0, 10_000, 20_000]);
  });

  it('gives tokens in order', async () => {
    const { limiter } = world(1);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((n) => limiter.take().then(() => order.push(n))));
    expect(order).toEqual([1, 2, 3]);
  });

  it('is paused for five minutes at most, and then tries one request before the next', async () => {
    const { limiter, times } = world(2);
    limiter.pause(1_000);
    limiter.pause(500);
    expect(await times(3)).toEqual([1000, 1500, 2000]);
    limiter.pause(1e9);
    expect(await times(1)).toEqual([302_000]);
  });
});

it.each([
  [0.001, 10],
  [10, 0.5],
])('the tokens that submissions owe follow a rate changed from %s to %s', async (before, after) => {
  let rate = before;
  const limiter = createSubmitLimiter({
    perSecond: () => rate,
    monotonic: () => 5_000,
    random: () => 0.5,
    sleep: async () => undefined,
  });
  const turn = { account: 'a', model: 'm', wasLost: false, deadlineAt: 1e9, createdAt: 0, isBack: true };
  const enter = (id: string) => limiter.enter({ ...turn, id }, new AbortController().signal);
  while ((await enter('sent')) === undefined);
  rate = after;
  const delay = await enter('next');
  // At most one second of tokens is owed, and the task's own.
  expect(delay?.ms ?? 0).toBeLessThanOrEqual((Math.max(1, before) + 1) * (1000 / after));
});
