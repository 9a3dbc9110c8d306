import { expect, it, onTestFinished } from 'vitest';
import { allEnded } from '../../src/temporal/worker-runs.ts';
import { shutdownTimes } from '../../src/worker.ts';

const channel = (submit_ms: number, image_ms: number) => ({
  timeouts: { submit_ms, image_ms, poll_ms: 10_000 },
});

it.each([
  ['the longest submission', [channel(60_000, 90_000), channel(50_000, 40_000)], 90_000],
  ['a callback, if all submissions are shorter', [channel(1_000, 1_000)], 30_000],
  ['a callback, if it starts without channels', [], 30_000],
])('a worker that shuts down waits for %s', (_what, channels, longestMs) => {
  expect(shutdownTimes(channels)).toEqual({
    shutdownGraceTime: longestMs,
    shutdownForceTime: longestMs + 15_000,
  });
});

it('a run whose shutdown is forced rejects for everyone who awaits it, and affects nothing else', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const ended = allEnded([Promise.resolve(), Promise.reject(new Error('forced'))]);
  // Wait for the next turn of the event loop, before which Node reports unhandled rejections.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
  await expect(ended).rejects.toThrow('forced');
});
