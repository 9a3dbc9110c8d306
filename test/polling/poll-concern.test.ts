import { expect, it } from 'vitest';
import { pollConcern, type PollsSoFar } from '../../src/polling/poll-concern.ts';
import type { PollConcern } from '../../src/task/attention.ts';

const second = 1000;

it.each<[string, Readonly<Partial<PollsSoFar>>, PollConcern | undefined]>([
  ['a job that is as long as usual', {}, undefined],
  ['nine failures', { errors: 9 }, undefined],
  ['ten failures within a minute', { errors: 10, failingMs: 60 * second }, undefined],
  ['ten failures in five minutes', { errors: 10, failingMs: 300 * second }, 'poll_failing'],
  ['one refusal of the key', { errors: 1, isRefused: true }, 'poll_failing'],
  ['a refusal that has passed', { errors: 0, failingMs: 0, isRefused: true }, undefined],
  ['just below five times', { elapsedMs: 499 * second, expectedMs: 100 * second }, undefined],
  ['five times', { elapsedMs: 500 * second, expectedMs: 100 * second }, 'overdue'],
  ['five times a moment', { elapsedMs: 59 * second, expectedMs: second }, undefined],
  ['a minute of a moment', { elapsedMs: 60 * second, expectedMs: second }, 'overdue'],
  [
    'both',
    { errors: 10, failingMs: 300 * second, elapsedMs: 500 * second, expectedMs: 100 * second },
    'poll_failing',
  ],
])('%s', (_name, facts, concern) => {
  const usual: PollsSoFar = {
    errors: 0,
    failingMs: 0,
    isRefused: false,
    elapsedMs: 0,
    expectedMs: 100 * second,
  };
  expect(pollConcern({ ...usual, ...facts })).toBe(concern);
});
