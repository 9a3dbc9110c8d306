import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStatusPoller } from '../../activities/status-poller.ts';
import { createRateLimiter } from '../../src/capacity/rate-limiter.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { EndedPage, OperationStatus } from '../../src/providers/provider.ts';
import { providerContext } from '../providers/support.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pending: OperationStatus = { state: 'pending', phase: 'running' };
const done: OperationStatus = { state: 'succeeded', items: [], facts: {} };
const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
const listMax = 50;
const pageSize = 100;

interface Job {
  readonly id: string;
  readonly createdAt: number;
  endsAt: number;
}

/** An upstream whose account has these jobs, and tasks that ask about theirs until they have ended. */
function open() {
  const jobs: Job[] = [];
  const upstream = { endedError: undefined as Error | undefined, answerMs: 0 };
  const requests: {
    readonly at: number;
    readonly kind: 'list' | 'ended' | 'one';
    readonly page?: EndedPage;
  }[] = [];
  const statusOf = ({ endsAt }: Job): OperationStatus => (endsAt <= Date.now() ? done : pending);
  const poller = createStatusPoller({
    provider: {
      listMax,
      status: ({ id }) => {
        requests.push({ at: Date.now(), kind: 'one' });
        const job = jobs.find((each) => each.id === id);
        return Promise.resolve(job === undefined ? pending : statusOf(job));
      },
      list: (operations) => {
        requests.push({ at: Date.now(), kind: 'list' });
        const asked = new Set(operations.map(({ id }) => id));
        const found = jobs.filter(({ id }) => asked.has(id));
        return Promise.resolve(new Map(found.map((job) => [job.id, statusOf(job)])));
      },
      listEnded: async (page) => {
        requests.push({ at: Date.now(), kind: 'ended', page });
        await sleep(upstream.answerMs);
        if (upstream.endedError !== undefined) throw upstream.endedError;
        const begin = Number(page.cursor ?? 0);
        const ended = jobs.filter((job) => job.createdAt >= page.since && job.endsAt <= Date.now());
        const shown = ended.slice(begin, begin + pageSize);
        return {
          jobs: new Map(shown.map(({ id }) => [id, done])),
          ...(ended.length > begin + pageSize ? { next: String(begin + pageSize) } : {}),
        };
      },
    },
    context: (model, signal) => providerContext({ model, signal }),
    limiter: createRateLimiter({ perSecond: 20, now: Date.now, sleep }),
    timeoutMs: 60_000,
    now: Date.now,
  });
  const lags = new Map<string, number>();
  const heard = new Map<string, number>();
  const failures: unknown[] = [];
  async function watch({ id, createdAt }: Job): Promise<void> {
    const job = { operation: { id }, model: 'm', acceptedAt: createdAt };
    for (;;) {
      try {
        const status = await poller.status(job, new AbortController().signal);
        heard.set(id, (heard.get(id) ?? 0) + 1);
        if (status.state === 'succeeded') break;
      } catch (error) {
        failures.push(error);
      }
      await sleep(500);
    }
    lags.set(id, Date.now() - (jobs.find((each) => each.id === id)?.endsAt ?? 0));
  }
  return {
    upstream,
    requests,
    lags,
    heard,
    failures,
    kinds: () => requests.map(({ kind }) => kind),
    /** Jobs that were accepted over the last seconds and end over the next ones; all are asked about. */
    add(count: number, { sinceMs = 0, endsMs = 1_000_000 } = {}): void {
      const now = Date.now();
      const added = Array.from({ length: count }, (_, n) => ({
        id: `job-${jobs.length + n}`,
        createdAt: now - Math.round((sinceMs * n) / count),
        endsAt: now + Math.round((endsMs * (n + 1)) / count),
      }));
      jobs.push(...added);
      for (const job of added) void watch(job);
    },
  };
}

describe('more jobs than fit into a list', () => {
  it('are known a few seconds after their end, at two requests a second', async () => {
    const world = open();
    world.add(1_000, { sinceMs: 20_000, endsMs: 60_000 });
    await vi.advanceTimersByTimeAsync(70_000);
    const lags = [...world.lags.values()].toSorted((a, b) => a - b);
    expect(lags).toHaveLength(1_000);
    // By lists alone a job is asked about every 10 s.
    expect(lags[950]).toBeLessThan(8_000);
    expect(lags[500]).toBeLessThan(4_000);
    for (const { at } of world.requests) {
      const within = world.requests.filter((other) => other.at >= at && other.at < at + 1_000);
      expect(within.length).toBeLessThanOrEqual(2);
    }
  });

  it('are heard of while they render, too', async () => {
    const world = open();
    world.add(300);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(world.heard.size).toBe(300);
    expect(world.kinds().slice(0, 8)).toEqual([
      'ended',
      'ended',
      'ended',
      'list',
      'ended',
      'ended',
      'ended',
      'list',
    ]);
  });

  it('are asked for page by page, since the oldest of them was accepted', async () => {
    const world = open();
    world.add(400, { sinceMs: 10_000, endsMs: -1 });
    const since = Date.now() - 10_000;
    await vi.advanceTimersByTimeAsync(5_000);
    const pages = world.requests.flatMap(({ page }) => page ?? []);
    expect(pages.slice(0, 3).map(({ cursor }) => cursor)).toEqual([undefined, '100', '200']);
    expect(new Set(pages.slice(0, 3).map((page) => page.since)).size).toBe(1);
    expect(pages[0]?.since).toBeLessThanOrEqual(since);
    expect(pages[0]?.since).toBeGreaterThan(since - 120_000);
    expect(world.lags.size).toBe(400);
  });

  it('do not make the pages reach back to one that waits for much longer', async () => {
    const world = open();
    world.add(1, { sinceMs: 0 });
    await vi.advanceTimersByTimeAsync(3_600_000);
    world.add(200, { sinceMs: 10_000, endsMs: 100_000 });
    await vi.advanceTimersByTimeAsync(2_000);
    const page = world.requests.findLast((each) => each.page !== undefined)?.page;
    expect(page?.since).toBeGreaterThan(Date.now() - 200_000);
  });

  it('are listed by their ids while a page is not answered', async () => {
    const world = open();
    world.upstream.answerMs = 30_000;
    world.add(200);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(world.kinds().filter((kind) => kind === 'ended')).toHaveLength(1);
    expect(world.heard.size).toBe(200);
  });

  it.each([
    ['refuses', new UpstreamError('rejected', 'no', { code: 'no', status: 403 })],
    ['fails', new UpstreamError('ambiguous', 'it broke', { code: 'broken', status: 500 })],
  ])('are listed by their ids where the upstream %s to say what has ended', async (_, error) => {
    const world = open();
    world.upstream.endedError = error;
    world.add(200, { endsMs: 20_000 });
    await vi.advanceTimersByTimeAsync(40_000);
    expect(world.failures).toEqual([]);
    expect(world.lags.size).toBe(200);
    expect(world.kinds()).not.toContain('one');
    expect(world.kinds().filter((kind) => kind === 'ended')).toHaveLength(1);
    world.upstream.endedError = undefined;
    await vi.advanceTimersByTimeAsync(60_000);
    world.add(200, { endsMs: 20_000 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(world.kinds().filter((kind) => kind === 'ended').length).toBeGreaterThan(1);
  });
});

it('as many as fit into a list are listed', async () => {
  const world = open();
  world.add(listMax, { endsMs: 5_000 });
  await vi.advanceTimersByTimeAsync(8_000);
  expect(world.lags.size).toBe(listMax);
  expect(world.kinds()).not.toContain('ended');
});
