import { setImmediate as quiet } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SeenLine, TurnLines } from '../../src/ledger/turn-lines.ts';
import { createTurns, type TurnClock } from '../../src/ledger/turns.ts';

const secondsMax = 20;
const overdueMs = 1_500;

interface Server {
  readonly append: number;
  readonly read: number;
}

const quick: Server = { append: 6, read: 1 };
const slow: Server = { append: 40, read: 40 };

/** Simulated time passes only while all writers are waiting, so that results do not depend on the machine. */
function createTime(seed: number) {
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  let now = 0;
  let state = seed;
  const clock: TurnClock = {
    now: () => now,
    sleep: (ms) => new Promise<void>((wake) => void waiting.push({ at: now + ms, wake })),
  };
  function random(): number {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  }
  return {
    clock,
    pass: (ms: number) => clock.sleep(ms * (0.7 + 0.6 * random())),
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

function createLine(pass: () => Promise<unknown>) {
  let seen: SeenLine = { line: [], turn: 0 };
  let commands = 0;
  const command = async (change: (before: SeenLine) => SeenLine): Promise<SeenLine> => {
    commands += 1;
    await pass();
    seen = change(seen);
    return seen;
  };
  const lines: TurnLines = {
    join: (_, process) =>
      command((before) =>
        before.line.includes(process) ? before : { ...before, line: [...before.line, process] },
      ),
    look: () => command((before) => before),
    leave: (_, process) =>
      command(({ line, turn }) => ({ line: line.filter((name) => name !== process), turn: turn + 1 })),
  };
  return { lines, seen: () => seen, commands: () => commands };
}

interface Writers {
  readonly count: number;
  readonly server: Server;
  readonly refused?: boolean;
  readonly diesAt?: number;
}

async function writeAtOnce({ count, server, refused = false, diesAt }: Writers, seed: number) {
  const { clock, pass, run } = createTime(seed);
  const { lines, commands } = createLine(() => pass(server.read));
  let chain = 0;
  let lost = 0;
  const decided = Array.from({ length: count }, () => 0);
  const longestMs = Array.from({ length: count }, () => 0);

  async function write(writer: number): Promise<void> {
    let seen = 0;
    let lastAt = 0;
    const refresh = async (): Promise<void> => {
      await pass(server.read);
      seen = chain;
    };
    const turn = createTurns({ lines, accountsMax: 10, clock }).take('account', refresh);
    const isAlive = (): boolean => writer > 0 || diesAt === undefined || clock.now() < diesAt;
    while (isAlive()) {
      await turn.begin();
      for (let isDecided = refused && writer === 0; !isDecided && isAlive();) {
        await pass(server.append / 2);
        isDecided = seen === chain;
        if (isDecided) seen = chain += 1;
        await pass(server.append / 2);
        if (isDecided) continue;
        lost += 1;
        await turn.lost();
        await refresh();
      }
      if (refused && writer === 0) await refresh();
      decided[writer] = (decided[writer] ?? 0) + 1;
      longestMs[writer] = Math.max(longestMs[writer] ?? 0, clock.now() - lastAt);
      lastAt = clock.now();
    }
  }

  decided.forEach((_, writer) => void write(writer));
  await run(secondsMax * 1000);
  return { appends: chain, lost, decided, longestMs, commands: commands() };
}

describe.each([
  ['a quick server', quick],
  ['one whose reads are as slow as its inserts', slow],
])('four processes that want one account all the time, at %s', (_, server) => {
  it.each([1, 2, 3])('take turns, and together append nearly as much as one (%i)', async (seed) => {
    const one = await writeAtOnce({ count: 1, server }, seed);
    const four = await writeAtOnce({ count: 4, server }, seed);
    expect(four.appends).toBeGreaterThan((server === quick ? 0.85 : 0.6) * one.appends);
    expect(Math.min(...four.decided)).toBeGreaterThan(0.2 * four.appends);
    expect(Math.max(...four.longestMs)).toBeLessThan(server === quick ? 1_000 : 2_000);
    expect(four.lost).toBeLessThan(0.02 * four.appends + 10);
  });

  it('a process that is always refused lets the others append', async () => {
    const { appends, decided } = await writeAtOnce({ count: 4, server, refused: true }, 5);
    const [refusals = 0, ...others] = decided;
    expect(refusals).toBeGreaterThan(10);
    expect(Math.min(...others)).toBeGreaterThan(0.2 * appends);
  });

  it('a process that dies in the queue makes the others wait once', async () => {
    const { longestMs, decided } = await writeAtOnce({ count: 4, server, diesAt: 5_000 }, 6);
    const [, ...others] = longestMs;
    expect(Math.max(...others)).toBeGreaterThan(overdueMs);
    expect(Math.max(...others)).toBeLessThan(2 * overdueMs);
    expect(decided[0]).toBeGreaterThan(0);
  });
});

it('a process that has an account to itself checks for others now and then', async () => {
  const { appends, lost, commands } = await writeAtOnce({ count: 1, server: quick }, 4);
  expect(appends).toBeGreaterThan((0.97 * secondsMax * 1000) / quick.append);
  expect(lost).toBe(0);
  expect(commands).toBe(Math.floor(appends / 32));
});

describe('one process', () => {
  function alone() {
    const { clock, pass, run } = createTime(1);
    const { lines, seen } = createLine(() => pass(1));
    const turn = createTurns({ lines, accountsMax: 10, clock }).take('account', () => Promise.resolve());
    return { turn, seen, lines, run };
  }

  it('does not queue after a first lost race, but does after a second', async () => {
    const { turn, seen, run } = alone();
    await turn.lost();
    expect(seen().line).toHaveLength(0);
    void turn.lost();
    await run(100);
    expect(seen().line).toHaveLength(1);
    void turn.end();
    await run(200);
    expect(seen()).toEqual({ line: [], turn: 1 });
  });

  it('appends at once if the queue cannot be read', async () => {
    const failing = () => Promise.reject(new Error('no answer'));
    const lines: TurnLines = { join: failing, look: failing, leave: failing };
    const clock: TurnClock = { now: () => 0, sleep: () => Promise.reject(new Error('it waited')) };
    const turn = createTurns({ lines, accountsMax: 10, clock }).take('account', failing);
    await turn.lost();
    await expect(turn.lost()).resolves.toBeUndefined();
    await expect(turn.begin()).resolves.toBeUndefined();
    await expect(turn.end()).resolves.toBeUndefined();
  });
});
