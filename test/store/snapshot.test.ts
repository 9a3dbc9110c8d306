import { expect, it, onTestFinished, vi } from 'vitest';
import { createPace } from '../../src/process/pace.ts';
import { createSnapshot } from '../../src/store/snapshot.ts';

interface Switch {
  readonly id: string;
  readonly on: boolean;
}

function open(reads: (readonly Switch[] | Error)[]) {
  const errors: unknown[] = [];
  const snapshot = createSnapshot<Switch>({
    list: async () => {
      const next = reads.shift() ?? [];
      if (next instanceof Error) throw next;
      return next;
    },
    period: { everyMs: 1_000, idleMs: 60_000 },
    onError: (error) => errors.push(error),
  });
  return { snapshot, errors };
}

it('shows the last read, with the later decisions of this process', async () => {
  const { snapshot } = open([[{ id: 'a', on: true }], [{ id: 'b', on: true }]]);
  expect(snapshot.find('a')).toBeUndefined();
  await snapshot.refresh();
  snapshot.put({ id: 'a', on: false });
  expect(snapshot.find('a')).toEqual({ id: 'a', on: false });
  await snapshot.refresh();
  expect([...snapshot.all()]).toEqual([{ id: 'b', on: true }]);
});

function openSlow() {
  const reads: ((found: readonly Switch[]) => void)[] = [];
  const list = () => new Promise<readonly Switch[]>((resolve) => void reads.push(resolve));
  return {
    reads,
    snapshot: createSnapshot<Switch>({
      list,
      period: { everyMs: 1_000, idleMs: 60_000 },
      onError: () => undefined,
    }),
  };
}

it('keeps decisions made during a read, but no longer', async () => {
  const { reads, snapshot } = openSlow();
  const read = snapshot.refresh();
  snapshot.put({ id: 'a', on: false });
  reads[0]?.([{ id: 'a', on: true }]);
  await read;
  expect(snapshot.find('a')?.on).toBe(false);
  const next = snapshot.refresh();
  reads[1]?.([{ id: 'a', on: true }]);
  await next;
  expect(snapshot.find('a')?.on).toBe(true);
});

it('ignores a read that a later one has overtaken', async () => {
  const { reads, snapshot } = openSlow();
  const both = [snapshot.refresh(), snapshot.refresh()];
  reads[1]?.([{ id: 'a', on: true }]);
  await both[1];
  reads[0]?.([]);
  await both[0];
  expect(snapshot.find('a')?.on).toBe(true);
});

it('is read by a single timer, and keeps its data when a read fails', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { snapshot, errors } = open([[{ id: 'a', on: true }], new Error('away'), [{ id: 'b', on: true }]]);
  const pace = createPace(() => performance.now());
  snapshot.start(pace);
  snapshot.start(pace);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([snapshot.find('a')?.on, errors]).toEqual([true, [new Error('away')]]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(snapshot.find('b')?.on).toBe(true);
  snapshot.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(snapshot.find('b')?.on).toBe(true);
});

it('the caller of refresh learns about a failed read', async () => {
  const { snapshot } = open([new Error('away')]);
  await expect(snapshot.refresh()).rejects.toThrow('away');
});
