import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CredentialFailure, createStatusPoller } from '../../src/polling/status-poller.ts';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import { UpstreamError, type Operation, type OperationStatus } from '../../src/providers/provider.ts';
import { providerContext } from '../providers/support.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pending: OperationStatus = { state: 'pending', phase: 'running' };
const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
const failure = (status: number) => new UpstreamError('ambiguous', 'it failed', { code: 'internal', status });

interface Upstream {
  error: (ids: readonly string[]) => Error | undefined;
  answerMs: number;
}

function open({
  lists,
  perSecond = 20,
  listMax = 50,
}: {
  lists: boolean;
  perSecond?: number;
  listMax?: number;
}) {
  const upstream: Upstream = { error: () => undefined, answerMs: 0 };
  const requests: { readonly at: number; readonly ids: readonly string[] }[] = [];
  const reply = async (ids: readonly string[]): Promise<void> => {
    requests.push({ at: Date.now(), ids });
    await sleep(upstream.answerMs);
    const error = upstream.error(ids);
    if (error !== undefined) throw error;
  };
  const list = async (operations: readonly Operation[]) => {
    await reply(operations.map(({ id }) => id));
    return new Map(operations.map(({ id }) => [id, pending]));
  };
  const poller = createStatusPoller({
    provider: () => ({
      listMax,
      status: async ({ id }) => {
        await reply([id]);
        return pending;
      },
      ...(lists ? { list } : {}),
    }),
    context: (model, signal) => providerContext({ model, signal }),
    limiter: createRateLimiter({ perSecond: () => perSecond, monotonic: Date.now, sleep }),
    timeoutMs: () => 60_000,
    monotonic: Date.now,
  });
  const ends = new AbortController();
  const answers = new Map<string, number[]>();
  const failures = new Map<string, unknown[]>();
  const watch = async (id: string): Promise<void> => {
    while (!ends.signal.aborted) {
      try {
        await poller.status({ task: id, account: 'a', operation: { id }, model: 'm' }, ends.signal);
        answers.set(id, [...(answers.get(id) ?? []), Date.now()]);
        await sleep(1_000);
      } catch (error) {
        failures.set(id, [...(failures.get(id) ?? []), error]);
        await sleep(100);
      }
    }
  };
  const ids = (count: number) => Array.from({ length: count }, (_, n) => `job-${n}`);
  return {
    upstream,
    requests,
    answers,
    failures,
    poller,
    watchMany(count: number) {
      for (const id of ids(count)) void watch(id);
    },
    end: () => ends.abort(new Error('the test ends')),
  };
}

function mostInASecond(times: readonly number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

describe('the pace of an upstream that lists', () => {
  it.each([3, 400])('is at most two requests a second with %d waiting jobs', async (jobs) => {
    const world = open({ lists: true });
    world.watchMany(jobs);
    await vi.advanceTimersByTimeAsync(20_000);
    world.end();
    expect(mostInASecond(world.requests.map(({ at }) => at))).toBeLessThanOrEqual(2);
    expect(world.answers.size).toBe(jobs);
  });

  it('serves all jobs in turn if more are waiting than fit into a list', async () => {
    const world = open({ lists: true, listMax: 50 });
    world.watchMany(400);
    await vi.advanceTimersByTimeAsync(30_000);
    world.end();
    const counts = [...world.answers.values()].map((times) => times.length);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('is not slowed down by slow responses', async () => {
    const world = open({ lists: true });
    world.upstream.answerMs = 30_000;
    world.watchMany(400);
    await vi.advanceTimersByTimeAsync(4_200);
    world.end();
    expect(world.requests.flatMap(({ ids }) => ids)).toHaveLength(400);
  });

  it('keeps the URL of a list within the length that servers accept', async () => {
    const world = open({ lists: true, listMax: 500 });
    const answers = Array.from({ length: 300 }, (_, n) =>
      world.poller.status(
        { task: `${n}`, account: 'a', operation: { id: `${n}`.padStart(60, '0') }, model: 'm' },
        new AbortController().signal,
      ),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(answers);
    const sizes = world.requests.map(({ ids }) => ids.map((id) => `filter.task_ids=${id}`).join('&').length);
    expect(Math.max(...sizes)).toBeLessThan(7_000);
    expect(sizes.length).toBeLessThan(6);
  });
});

describe.each([
  ['lists', true],
  ['does not list', false],
])('an outage of an upstream that %s', (_name, lists) => {
  it('costs one request every few seconds, and its end is known to all at once', async () => {
    const world = open({ lists, perSecond: 100 });
    world.watchMany(40);
    await vi.advanceTimersByTimeAsync(5_000);
    world.upstream.error = () => failure(500);
    await vi.advanceTimersByTimeAsync(20_000);
    const before = world.requests.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(world.requests.length - before).toBeLessThanOrEqual(13);
    expect(new Set(world.requests.slice(before).map(({ ids }) => ids.length))).toEqual(new Set([1]));

    world.upstream.error = () => undefined;
    const back = Date.now();
    await vi.advanceTimersByTimeAsync(7_500);
    world.end();
    const known = [...world.answers.values()].filter((times) => (times.at(-1) ?? 0) > back);
    expect(known).toHaveLength(40);
  });

  it('is reported to all waiting polls with every probe', async () => {
    const world = open({ lists });
    world.watchMany(10);
    await vi.advanceTimersByTimeAsync(3_000);
    world.upstream.error = () => failure(503);
    await vi.advanceTimersByTimeAsync(30_000);
    world.end();
    const heard = [...world.failures.values()].map((errors) => errors.length);
    expect(heard).toHaveLength(10);
    expect(Math.min(...heard)).toBeGreaterThanOrEqual(5);
    const [first] = world.failures.get('job-7') ?? [];
    expect(first).toBeInstanceOf(CredentialFailure);
    expect(first).toMatchObject({ reason: { status: 503 } });
  });
});

it('an outage that outlasts the rest of a list ends with a list', async () => {
  const world = open({ lists: true });
  world.watchMany(5);
  await vi.advanceTimersByTimeAsync(5_000);
  world.upstream.error = () => failure(500);
  await vi.advanceTimersByTimeAsync(90_000);
  world.upstream.error = () => undefined;
  const back = world.requests.length;
  await vi.advanceTimersByTimeAsync(8_000);
  world.end();
  const sizes = world.requests.slice(back).map(({ ids }) => ids.length);
  expect(sizes.slice(0, 2)).toEqual([1, 4]);
});

describe('one job', () => {
  it('that waits alone notices the end of an outage within seconds', async () => {
    const world = open({ lists: true });
    world.upstream.error = () => failure(500);
    world.watchMany(1);
    await vi.advanceTimersByTimeAsync(120_000);
    world.upstream.error = () => undefined;
    await vi.advanceTimersByTimeAsync(5_500);
    world.end();
    expect(world.answers.get('job-0')?.length).toBeGreaterThan(0);
  });

  it('whose polls always fail does not stop the others', async () => {
    const world = open({ lists: false });
    world.upstream.error = (ids) => (ids.includes('job-3') ? failure(500) : undefined);
    world.watchMany(10);
    await vi.advanceTimersByTimeAsync(30_000);
    world.end();
    expect(world.answers.has('job-3')).toBe(false);
    expect([...world.answers.values()].filter((times) => times.length >= 10)).toHaveLength(9);
    // After a second failure, the error is attributed to the job itself, and only its task backs off.
    expect(world.failures.get('job-3')?.at(-1)).toBeInstanceOf(UpstreamError);
  });

  it('that the upstream does not know does not begin an outage', async () => {
    const world = open({ lists: false });
    const gone = new UpstreamError('rejected', 'unknown', { code: 'not_found', status: 404, gone: true });
    world.upstream.error = (ids) => (ids.includes('job-0') ? gone : undefined);
    world.watchMany(5);
    await vi.advanceTimersByTimeAsync(10_000);
    world.end();
    expect(world.failures.get('job-0')?.[0]).toBe(gone);
    expect([...world.failures.keys()]).toEqual(['job-0']);
  });
});

it('a list that fails while single jobs get responses is not requested for a while', async () => {
  const world = open({ lists: true });
  world.upstream.error = (ids) => (ids.length > 1 ? failure(500) : undefined);
  world.watchMany(5);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(world.poller.lists()).toBe(false);
  expect(world.answers.size).toBe(5);
  await vi.advanceTimersByTimeAsync(40_000);
  world.end();
  expect(world.requests.filter(({ ids }) => ids.length > 1)).toHaveLength(2);
});
