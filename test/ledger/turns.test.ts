import { setImmediate as quiet } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/ledger/turns.ts';
import type { TurnClock } from '../../src/ledger/turns.ts';

const appendMs = 6;
const readMs = 1;
const secondsMax = 20;

/** Time passes when everybody waits, so that no run depends on the machine. */
function createTime(seed: number) {
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  let now = 0;
  let state = seed;
  const clock: TurnClock = {
    now: () => now,
    sleep: (ms) => new Promise<void>((wake) => void waiting.push({ at: now + ms, wake })),
    random() {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    },
  };
  return {
    clock,
    run: async (ms: number): Promise<void> => {
      for (;;) {
        await quiet();
        waiting.sort((one, other) => other.at - one.at);
        const next = waiting.pop();
        if (next === undefined || next.at > ms) return;
        now = next.at;
        next.wake();
      }
    },
  };
}

/** Writers that always have something to append to one account, each a process of its own. */
async function writeAtOnce(writers: number, seed: number) {
  const { clock, run } = createTime(seed);
  let chain = 0;
  let lost = 0;
  const around = (ms: number): number => ms * (0.7 + 0.6 * clock.random());
  const won = Array.from({ length: writers }, () => 0);
  const longestMs = Array.from({ length: writers }, () => 0);

  async function write(writer: number): Promise<void> {
    let seen = 0;
    let lastWonAt = 0;
    const turn = createTurns(10, clock).take('account', async () => {
      const before = seen;
      await clock.sleep(around(readMs));
      seen = chain;
      return seen !== before;
    });
    for (;;) {
      await turn.begin();
      for (let isWritten = false; !isWritten;) {
        const startedAt = clock.now();
        await clock.sleep(around(readMs));
        isWritten = seen === chain;
        if (isWritten) seen = chain += 1;
        await clock.sleep(around(appendMs - readMs));
        if (!isWritten) lost += 1;
        await turn.tried(startedAt, isWritten ? 'won' : 'lost');
        if (!isWritten) seen = chain;
      }
      won[writer] = (won[writer] ?? 0) + 1;
      longestMs[writer] = Math.max(longestMs[writer] ?? 0, clock.now() - lastWonAt);
      lastWonAt = clock.now();
    }
  }

  won.forEach((_, writer) => void write(writer));
  await run(secondsMax * 1000);
  return { appends: chain, lost, won, longestMs: Math.max(...longestMs) };
}

describe('four processes that want one account all the time', () => {
  it.each([1, 2, 3])('each get their turns, and together append nearly as much as one (%i)', async (seed) => {
    const one = await writeAtOnce(1, seed);
    const four = await writeAtOnce(4, seed);
    expect(four.appends).toBeGreaterThan(0.8 * one.appends);
    expect(Math.min(...four.won)).toBeGreaterThan(0.1 * four.appends);
    expect(four.longestMs).toBeLessThan(5_000);
    expect(four.lost).toBeLessThan(0.5 * four.appends);
  });
});

it('a process that has an account alone rests for a thirtieth of the time at most', async () => {
  const { appends } = await writeAtOnce(1, 4);
  expect(appends).toBeGreaterThan((0.96 * secondsMax * 1000) / appendMs);
});

it('a first lost race costs no wait', async () => {
  let slept = 0;
  const sleep = () => Promise.resolve((slept += 1));
  const turn = createTurns(10, { now: () => 0, random: () => 0.5, sleep }).take('account', () =>
    Promise.resolve(false),
  );
  await turn.tried(0, 'lost');
  expect(slept).toBe(0);
  await turn.tried(0, 'lost');
  expect(slept).toBe(1);
});
