import { expect, it } from 'vitest';
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
