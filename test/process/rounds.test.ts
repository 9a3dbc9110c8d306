import { expect, it } from 'vitest';
import { createRounds } from '../../src/process/rounds.ts';

function world(everyMs = 3_600_000) {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const errors: unknown[] = [];
  const rounds = createRounds({
    everyMs,
    work: () => new Promise<void>((resolve, reject) => void ends.push({ resolve, reject })),
    onError: (error) => void errors.push(error),
  });
  return { ...rounds, ends, errors };
}

it('run one at a time, and a request during a round waits for it', async () => {
  const { run, ends } = world();
  const both = [run(), run()];
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await Promise.all(both);
  void run();
  expect(ends).toHaveLength(2);
});

it('a round that fails is reported, and does not end the rounds', async () => {
  const { run, ends, errors } = world();
  const failing = run();
  ends[0]?.reject(new Error('away'));
  await failing;
  expect(errors).toEqual([new Error('away')]);
  const next = run();
  ends[1]?.resolve();
  await next;
  expect(errors).toHaveLength(1);
});

it('begin after each interval, until they are stopped, and the stop waits for the current one', async () => {
  const { start, stop, ends } = world(1);
  start();
  start();
  await expect.poll(() => ends).toHaveLength(1);
  ends[0]?.resolve();
  await expect.poll(() => ends).toHaveLength(2);
  let isStopped = false;
  const stopped = stop().then(() => (isStopped = true));
  await new Promise((resolve) => void setImmediate(resolve));
  expect(isStopped).toBe(false);
  ends[1]?.resolve();
  await stopped;
  expect(ends).toHaveLength(2);
});
