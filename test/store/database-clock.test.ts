import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { utcDay } from '../../src/base/times.ts';
import { createLogger } from '../../src/observability/log.ts';
import { translateError } from '../../src/http/error-response.ts';
import { LedgerClockError } from '../../src/ledger/ledger-errors.ts';
import { createClockMarks, type ClockJump, type ClockMark } from '../../src/store/clock-marks.ts';
import { openDatabaseClock } from '../../src/store/database-clock.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ worker: false });
});
afterAll(() => gateway.stop());

function memoryMarks() {
  let mark: ClockMark | undefined;
  return {
    find: async () => mark,
    confirm: async (at: number) => void (mark = { at, rev: (mark?.rev ?? 0) + 1 }),
    contradict: async ({ rev }: Pick<ClockMark, 'rev'>, jump: ClockJump) => {
      if (mark?.rev === rev) mark = { ...mark, jump };
    },
  };
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const start = Date.parse('2026-11-28T12:00:00Z');

function openClocks() {
  const world = { passed: 0, databaseApart: 0, ownApart: 0, slept: 0 };
  const marks = memoryMarks();
  const time = () => start + world.passed;
  const open = async () => {
    const clock = await openDatabaseClock({
      db: { command: async () => ({ localTime: new Date(time() + world.databaseApart) }) },
      marks,
      monotonic: () => world.passed - world.slept,
      uptime: () => world.passed / 1000,
      ownNow: () => time() + world.ownApart,
      onError: (error) => expect.fail(String(error)),
      onTime: () => undefined,
    });
    onTestFinished(() => clock.stop());
    return { ...clock, isRight: () => clock.jump() === undefined, apart: () => clock.now() - time() };
  };
  const pass = async (minutes = 1) => {
    for (let n = 0; n < minutes; n += 1) {
      world.passed += minuteMs;
      await vi.advanceTimersByTimeAsync(minuteMs);
    }
  };
  return { world, marks, open, pass };
}

describe('a jump of the database’s clock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const jumps = [-40 * dayMs, -15 * minuteMs, 15 * minuteMs, 40 * dayMs];

  it.each(jumps)('of %i ms is not accepted, is recorded, and is over when it is undone', async (apart) => {
    const { world, marks, open, pass } = openClocks();
    const clock = await open();
    await pass(2);
    world.databaseApart = apart;
    await pass(3);
    expect([clock.isRight(), clock.apart()]).toEqual([false, 0]);
    const { jump } = (await marks.find()) ?? expect.fail();
    expect(jump && jump.seen - jump.expected).toBe(apart);
    world.databaseApart = 0;
    await pass();
    expect([clock.isRight(), clock.apart()]).toEqual([true, 0]);
    expect((await marks.find())?.jump).toBeUndefined();
  });

  it.each(jumps)('of %i ms is not accepted by a process that starts meanwhile, either', async (apart) => {
    const { world, open, pass } = openClocks();
    await open();
    await pass(2);
    world.databaseApart = apart;
    await pass();
    const late = await open();
    expect(late.isRight()).toBe(false);
    world.ownApart = apart;
    expect((await open()).isRight()).toBe(false);
    await pass();
    expect(late.isRight()).toBe(false);
    [world.databaseApart, world.ownApart] = [0, 0];
    await pass(2);
    expect([late.isRight(), late.apart()]).toEqual([true, 0]);
  });

  it('that happened while no process ran is detected by the clock of the machine', async () => {
    const { world, open, pass } = openClocks();
    (await open()).stop();
    await pass(10);
    world.databaseApart = 40 * dayMs;
    expect((await open()).isRight()).toBe(false);
    world.databaseApart = 0;
    expect((await open()).isRight()).toBe(true);
  });

  it('is accepted for all processes by an operator', async () => {
    const { world, marks, open, pass } = openClocks();
    const clocks = [await open(), await open()];
    await pass();
    world.databaseApart = 15 * minuteMs;
    await pass(2);
    expect(clocks.map(({ isRight }) => isRight())).toEqual([false, false]);
    await marks.confirm(start + world.passed + world.databaseApart);
    await pass();
    expect(clocks.map(({ isRight, apart }) => [isRight(), apart()])).toEqual([
      [true, 15 * minuteMs],
      [true, 15 * minuteMs],
    ]);
  });

  it('is not accepted by a read that is older than the jump', async () => {
    const { world, marks, open, pass } = openClocks();
    const clock = await open();
    await pass(2);
    world.databaseApart = 15 * minuteMs;
    await pass();
    const older = { at: start + world.passed + minuteMs + world.databaseApart, rev: 0 };
    marks.find = async () => older;
    await pass();
    expect([clock.isRight(), clock.apart()]).toEqual([false, 0]);
  });

  it('is ignored if the machine slept, or up to two minutes', async () => {
    const { world, open, pass } = openClocks();
    const clock = await open();
    world.slept = 3_600_000;
    world.passed += 3_600_000;
    await pass();
    expect([clock.isRight(), clock.apart()]).toEqual([true, 0]);
    world.databaseApart = 2 * minuteMs;
    await pass();
    expect([clock.isRight(), clock.apart()]).toEqual([true, 2 * minuteMs]);
  });
});

it('while the time has jumped, no money is written, and existing entries stay readable', async () => {
  const account = await gateway.account();
  const marks = createClockMarks(gateway.core.mongo.db);
  await marks.confirm(Date.now() - 40 * dayMs);
  const late = await openCore(readEnvironment(gateway.environment), gateway.core.log, {
    ownNow: () => Date.now() - 40 * dayMs,
  });
  onTestFinished(() => late.close());
  const credit = { account: account.id, amount: 1n, reference: 'later' };
  await expect(late.ledger.credit(credit)).rejects.toThrow('the database clock has jumped');
  expect(translateError(new LedgerClockError())).toMatchObject({ code: 'service_unavailable' });
  expect((await late.ledger.balance(account.id)).seq).toBeGreaterThan(0n);
  expect((await marks.find())?.jump).toBeDefined();
  const run = promisify(execFile)(
    process.execPath,
    ['src/gateway.js', 'ledger', 'accept-clock', '--reason', 'x'],
    {
      env: { PATH: process.env['PATH'], ...gateway.environment },
    },
  );
  expect((await run).stdout).toMatch(/accepted\s+true/);
  expect((await marks.find())?.jump).toBeUndefined();
});

const yearMs = 365 * 86_400_000;

it('a process whose clock is a year ahead reports that, and dates entries by the database’s clock', async () => {
  const account = await gateway.account();
  const lines: string[] = [];
  const log = createLogger({
    level: 'warn',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  const ahead = await openCore(readEnvironment(gateway.environment), log, {
    ownNow: () => Date.now() + yearMs,
  });
  const hold = {
    account: account.id,
    by: { key: account.keyId, model: 'seedance' },
    basis: '{}',
    overdraftLimit: 0n,
  };
  await ahead.ledger.hold({ ...hold, task: 'ahead', amount: 1n });
  await ahead.close();
  expect(lines.join('')).toContain('this process’s clock differs from the database clock');
  await gateway.core.ledger.hold({ ...hold, task: 'after', amount: 1n });
  const entries = await gateway.core.ledger.entries(account.id, { limit: 10 });
  const today = utcDay(Date.now());
  expect([today, utcDay(Date.now() - 60_000)]).toContain(entries.at(-1)?.day);
  expect(entries.at(-1)?.at).toBeLessThan(Date.now() + 60_000);
});

it('continues by the monotonic clock between two reads, and accepts the next read', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    let [server, uptime] = [1_000_000, 50];
    const failures: unknown[] = [];
    const clock = await openDatabaseClock({
      db: {
        command: () =>
          server === 0 ? Promise.reject(new Error('away')) : Promise.resolve({ localTime: new Date(server) }),
      },
      marks: memoryMarks(),
      monotonic: () => uptime,
      uptime: () => uptime / 1000,
      onError: (error) => failures.push(error),
      onTime: () => undefined,
    });
    expect(clock.now()).toBe(1_000_000);
    uptime += 59_000.4;
    expect(clock.now()).toBe(1_059_000);
    server = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([failures.length, clock.now()]).toEqual([1, 1_059_000]);
    server = 1_061_000;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(clock.now()).toBe(1_061_000);
    clock.stop();
    server = 5_000_000;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(clock.now()).toBe(1_061_000);
  } finally {
    vi.useRealTimers();
  }
});

it('a response that a busy process reads late does not set the time back', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    let [server, uptime, lateMs] = [1_000_000, 50, 0];
    const command = () => {
      const answer = { localTime: new Date(server) };
      uptime += lateMs;
      server += lateMs;
      return Promise.resolve(answer);
    };
    const onError = (error: unknown) => expect.fail(String(error));
    const monotonic = () => uptime;
    const deps = { db: { command }, marks: memoryMarks(), monotonic, uptime: () => uptime / 1000 };
    const clock = await openDatabaseClock({ ...deps, onError, onTime: () => undefined });
    lateMs = 7_000;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([server, clock.now()]).toEqual([1_007_000, 1_007_000]);
    // Moving the clock back first would make the earlier value contradict the new one.
    server += 20_000;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(clock.now()).toBe(1_027_000);
    server -= 40_000;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(clock.now()).toBe(server);
    clock.stop();
  } finally {
    vi.useRealTimers();
  }
});

it('a server that does not report its time is an error', async () => {
  const silent = {
    db: { command: () => Promise.resolve({}) },
    marks: memoryMarks(),
    onError: () => undefined,
    onTime: () => undefined,
  };
  await expect(openDatabaseClock(silent)).rejects.toThrow('does not report its time');
});
