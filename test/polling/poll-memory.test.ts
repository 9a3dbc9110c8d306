import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  afterPending,
  progressOf,
  rememberedPolls,
  worthKeeping,
} from '../../src/polling/poll-memory.ts';
import type { FailedPoll, PollMemory } from '../../src/polling/poll-memory.ts';
import { UpstreamError } from '../../src/providers/provider.ts';

const fresh = rememberedPolls(undefined);
const pending = (phase: 'submitted' | 'running', more: { progress?: number; queuePosition?: number } = {}) =>
  ({ state: 'pending', phase, ...more }) as const;
const error = (options: ConstructorParameters<typeof UpstreamError>[2], outcome = 'ambiguous' as const) =>
  new UpstreamError(outcome, 'it failed', options);
const failed = (over: Partial<FailedPoll> = {}): FailedPoll => ({
  error: error({ code: 'internal', status: 500 }),
  isShared: false,
  now: 1_000,
  ...over,
});

describe('what is remembered', () => {
  it('survives being written as JSON and read by the next worker', () => {
    const seen = afterFailure(afterPending(fresh, pending('running', { progress: 40 }), 500), failed());
    expect(rememberedPolls(JSON.parse(JSON.stringify(seen)))).toEqual(seen);
  });

  it.each([
    undefined,
    null,
    'text',
    7,
    [],
    {},
    { polls: '3' },
    { polls: 1, errors: 0, gone: 0, phase: 'ended' },
  ])('is empty for the details %j', (details) => {
    expect(rememberedPolls(details)).toEqual({ polls: 0, errors: 0, gone: 0, phase: 'submitted' });
    expect(worthKeeping(rememberedPolls(details))).toBeUndefined();
  });

  it('is worth a heartbeat as soon as it contains anything new', () => {
    const seen = afterPending(fresh, pending('submitted'), 500);
    expect(worthKeeping(seen)).toBe(seen);
  });
});

describe('after a response', () => {
  it('the phase never goes back', () => {
    const running = afterPending(fresh, pending('running'), 500);
    expect(afterPending(running, pending('submitted'), 600)).toMatchObject({ phase: 'running', polls: 2 });
  });

  it('a streak of failures ends with everything that belongs to it', () => {
    const refused = failed({ error: error({ code: 'x', status: 401, retryAfterMs: 9_000 }), isShared: true });
    const seen = afterPending(afterFailure(fresh, refused), pending('running'), 2_000);
    expect(seen).toEqual({ polls: 2, errors: 0, gone: 0, phase: 'running', lastAt: 2_000 });
  });

  it('the concerns and the time of the last progress stay', () => {
    const before: PollMemory = { ...fresh, concern: 'overdue', progressAt: 77 };
    expect(afterPending(before, pending('running'), 500)).toMatchObject({
      concern: 'overdue',
      progressAt: 77,
    });
  });

  it('progress that is no longer reported is dropped', () => {
    const seen = afterPending(fresh, pending('running', { progress: 40, queuePosition: 2 }), 500);
    expect(afterPending(seen, pending('running'), 600)).not.toHaveProperty('progress');
    expect(afterPending(seen, pending('running'), 600)).not.toHaveProperty('queuePosition');
  });
});

describe('after a failure', () => {
  it('the streak is counted from its first failure', () => {
    const first = afterFailure(fresh, failed({ now: 1_000 }));
    const second = afterFailure(first, failed({ now: 5_000 }));
    expect(second).toMatchObject({ polls: 2, errors: 2, failingSince: 1_000, lastAt: 5_000 });
    const recovered = afterPending(second, pending('running'), 6_000);
    expect(afterFailure(recovered, failed({ now: 9_000 }))).toMatchObject({ errors: 1, failingSince: 9_000 });
  });

  it('only consecutive reports of an unknown job add up to a lost job', () => {
    const gone = failed({ error: error({ code: 'not_found', status: 404, gone: true }) });
    const twice = afterFailure(afterFailure(fresh, gone), gone);
    expect(twice.gone).toBe(2);
    expect(afterFailure(twice, failed()).gone).toBe(0);
    expect(afterPending(twice, pending('running'), 1).gone).toBe(0);
  });

  it.each([
    [401, 'ambiguous', true],
    [402, 'ambiguous', true],
    [403, 'ambiguous', true],
    [404, 'ambiguous', false],
    [429, 'ambiguous', false],
    [undefined, 'ambiguous', false],
    [400, 'unavailable', true],
  ] as const)('status %s, %s: refused %s', (status, outcome, isRefused) => {
    const made = new UpstreamError(outcome, 'm', { code: 'c', ...(status === undefined ? {} : { status }) });
    expect(afterFailure(fresh, failed({ error: made })).isRefused).toBe(isRefused);
  });

  it('the delay that an upstream once asked for does not last forever', () => {
    const asked = afterFailure(
      fresh,
      failed({ error: error({ code: 'c', status: 429, retryAfterMs: 9_000 }) }),
    );
    expect(asked.retryAfterMs).toBe(9_000);
    expect(afterFailure(asked, failed())).not.toHaveProperty('retryAfterMs');
  });
});

it('operators can read the state of polling', () => {
  expect(progressOf(fresh)).toBe('submitted, 0 polls');
  expect(progressOf(afterFailure(fresh, failed()))).toBe(
    'submitted, 1 poll, the last 1 failed (500 internal)',
  );
  const { lastError: _, ...silent } = afterFailure(afterFailure(fresh, failed()), failed());
  expect(progressOf(silent)).toBe('submitted, 2 polls, the last 2 failed (unknown)');
});
