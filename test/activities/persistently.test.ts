import { MongoNetworkError, MongoServerError } from 'mongodb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { persistently } from '../../activities/persistently.ts';
import { createLogger } from '../../src/observability/log.ts';
import { isOutage } from '../../src/store/mongo.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function failing(times: number, error: Error) {
  const logged: string[] = [];
  let tries = 0;
  const write = async (): Promise<string> => {
    tries += 1;
    if (tries <= times) throw error;
    return 'written';
  };
  const destination = { write: (line: string) => void logged.push(line) };
  const log = createLogger({ level: 'debug', format: 'json', destination });
  return { write, tasks: { isOutage }, log, logged, tries: () => tries, now: Date.now };
}

it('an outage is waited for, and logged once', async () => {
  const world = failing(30, new MongoNetworkError('away'));
  const written = persistently(world.write, world);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await written).toBe('written');
  expect([world.tries(), world.logged.length]).toEqual([31, 1]);
});

it.each([
  ['a duplicate key', new MongoServerError({ message: 'E11000', code: 11000 })],
  ['a document that is too large', new MongoServerError({ message: 'too large', code: 10334 })],
  ['a bug', new TypeError('x is not a function')],
])('%s is thrown at once, and the log does not blame the database', async (_, error) => {
  const world = failing(1, error);
  await expect(persistently(world.write, world)).rejects.toBe(error);
  expect([world.tries(), world.logged]).toEqual([1, []]);
});

it('a refusal by a primary that steps down counts as an outage', async () => {
  const world = failing(1, new MongoServerError({ message: 'not primary', code: 10107 }));
  const written = persistently(world.write, world);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await written).toBe('written');
});

it('an outage that lasts for minutes is thrown eventually', async () => {
  const away = new MongoNetworkError('away');
  const world = failing(Infinity, away);
  const written = persistently(world.write, world).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(239_000);
  const before = world.tries();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await written).toBe(away);
  expect(before).toBeGreaterThan(200);
});
