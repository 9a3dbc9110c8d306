import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { utcDay } from '../../src/base/times.ts';
import { createLogger } from '../../src/observability/log.ts';
import { openDatabaseClock } from '../../src/store/database-clock.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ worker: false });
});
afterAll(() => gateway.stop());

const yearMs = 365 * 86_400_000;

it('a process whose clock is a year ahead says so, and writes money by the time of the database', async () => {
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
  expect(lines.join('')).toContain('the clock of this process is not that of the database');
  await gateway.core.ledger.hold({ ...hold, task: 'after', amount: 1n });
  const entries = await gateway.core.ledger.entries(account.id, { limit: 10 });
  const today = utcDay(Date.now());
  // The test may run at midnight.
  expect([today, utcDay(Date.now() - 60_000)]).toContain(entries.at(-1)?.day);
  expect(entries.at(-1)?.at).toBeLessThan(Date.now() + 60_000);
});

it('continues between two looks by the monotonic clock, and takes what the next one says', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    let [server, uptime] = [1_000_000, 50];
    const failures: unknown[] = [];
    const clock = await openDatabaseClock({
      db: {
        command: () =>
          server === 0 ? Promise.reject(new Error('away')) : Promise.resolve({ localTime: new Date(server) }),
      },
      monotonic: () => uptime,
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

it('an answer that a busy process reads late does not set the time back', async () => {
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
    const clock = await openDatabaseClock({ db: { command }, monotonic, onError, onTime: () => undefined });
    lateMs = 7_000;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([server, clock.now()]).toEqual([1_007_000, 1_007_000]);
    // The other way: what was known contradicts the answer, and was too late or too early.
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

it('a server that does not say what time it is is an error', async () => {
  const silent = {
    db: { command: () => Promise.resolve({}) },
    onError: () => undefined,
    onTime: () => undefined,
  };
  await expect(openDatabaseClock(silent)).rejects.toThrow('what time it is');
});
