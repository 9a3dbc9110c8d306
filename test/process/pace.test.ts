import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPace } from '../../src/process/pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const period = { everyMs: 1_000, idleMs: 30_000 };

function open() {
  const pace = createPace(() => performance.now());
  let reads = 0;
  let answer: (() => void) | undefined;
  const end = pace.follow(period, async () => {
    reads += 1;
    await new Promise<void>((resolve) => (answer = resolve));
  });
  return { pace, end, reads: () => reads, answer: () => answer?.() };
}

it('reads at each interval while the process is used, and rarely afterwards', async () => {
  const { pace, reads, end } = open();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reads()).toBe(10);
  await pace.use(() => Promise.resolve());
  await vi.advanceTimersByTimeAsync(14_000);
  expect(reads()).toBe(24);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reads()).toBe(26);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reads()).toBe(26);
});

it('does not become idle during a use', async () => {
  const { pace, reads } = open();
  let finish: (() => void) | undefined;
  const used = pace.use(() => new Promise<void>((resolve) => (finish = resolve)));
  await vi.advanceTimersByTimeAsync(100_000);
  expect(reads()).toBe(100);
  finish?.();
  await used;
});

it('makes the first uses of an idle process wait for one read', async () => {
  const { pace, reads, answer } = open();
  await vi.advanceTimersByTimeAsync(20_000);
  const before = reads();
  const ran: string[] = [];
  const use = (name: string) => pace.use(async () => void ran.push(name));
  const uses = [use('a'), use('b')];
  await vi.advanceTimersByTimeAsync(1);
  expect([ran, reads() - before]).toEqual([[], 1]);
  answer();
  await Promise.all(uses);
  expect(ran).toEqual(['a', 'b']);
  await use('c');
  expect(reads() - before).toBe(1);
});

it('is idle again right after a use that is unlikely to be followed by another', async () => {
  const { pace, reads, answer } = open();
  await vi.advanceTimersByTimeAsync(20_000);
  const before = reads();
  const used = pace.useOnce(() => Promise.resolve());
  await vi.advanceTimersByTimeAsync(1);
  answer();
  await used;
  expect(reads() - before).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reads() - before).toBe(1);
  const next = pace.use(() => Promise.resolve());
  await vi.advanceTimersByTimeAsync(1);
  answer();
  await next;
  expect(reads() - before).toBe(2);
});

it('rethrows the error of a use, and becomes idle afterwards', async () => {
  const { pace, reads } = open();
  await expect(pace.use(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  await vi.advanceTimersByTimeAsync(15_000);
  const before = reads();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reads()).toBe(before);
});

it('waits no longer than two seconds for a read', async () => {
  const { pace } = open();
  await vi.advanceTimersByTimeAsync(20_000);
  let ran = false;
  const used = pace.use(async () => void (ran = true));
  await vi.advanceTimersByTimeAsync(1_900);
  expect(ran).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  await used;
  expect(ran).toBe(true);
});
