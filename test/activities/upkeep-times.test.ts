import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { createReconcileTasks } from '../../activities/reconcile.ts';
import type { UpkeepStep } from '../../activities/deps.ts';
import { reconcileTimeoutMs, upkeepTimes } from '../../src/base/upkeep-times.ts';
import { createLogger } from '../../src/observability/log.ts';

afterEach(() => void vi.useRealTimers());

async function* empty(): AsyncGenerator<never> {}

function reconciler(upkeep: readonly UpkeepStep[], change: object = {}) {
  const failures: string[] = [];
  const run = createReconcileTasks({
    upkeep,
    upkeepFailures: { note: async ({ step }: { readonly step: string }) => void failures.push(step) },
    workers: async () => ({ unserved: () => undefined }),
    isConfigCurrent: () => false,
    log: createLogger({ level: 'silent', format: 'json' }),
    now: Date.now,
    tasks: { unfinished: empty, owing: empty, asking: empty },
    workflows: { running: empty, failing: empty },
    ...change,
  } as never);
  const environment = new MockActivityEnvironment();
  return { failures, environment, run: () => environment.run(run) };
}

const hanging = () => new Promise<never>(() => undefined);

it('all steps together take less time than the activity has, even if each uses its full limit', () => {
  const sum = Object.values(upkeepTimes).reduce((ms, { shareMs, lastMs }) => ms + shareMs + lastMs, 0);
  expect(sum).toBeLessThanOrEqual(reconcileTimeoutMs - 30_000);
});

it('every step that hangs is abandoned in time, and the others run', async () => {
  vi.useFakeTimers();
  const begunAt = Date.now();
  const ran: string[] = [];
  const tasks = { unfinished: hanging, owing: empty, asking: empty };
  const { failures, run } = reconciler(
    [
      { name: 'copies', run: hanging },
      { name: 'leases', run: async () => ran.push('leases') },
      { name: 'files', run: hanging },
    ],
    { tasks, workers: hanging },
  );
  const report = run();
  await vi.advanceTimersByTimeAsync(reconcileTimeoutMs);
  expect(await report).toMatchObject({ failed: 1, upkeep: { leases: 1 } });
  expect(failures.toSorted()).toEqual(['copies', 'files']);
  expect(Date.now() - begunAt).toBeLessThanOrEqual(reconcileTimeoutMs);
});

it('an abandoned step does not run twice at the same time', async () => {
  vi.useFakeTimers();
  const runs: (() => void)[] = [];
  const step = () => new Promise<number>((resolve) => void runs.push(() => resolve(1)));
  const { failures, run } = reconciler([{ name: 'files', run: step }]);
  const first = run();
  await vi.advanceTimersByTimeAsync(reconcileTimeoutMs);
  await first;
  await run();
  expect([runs.length, failures]).toEqual([1, ['files', 'files']]);
  runs[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  void run();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toHaveLength(2);
});

it('a step knows when its time is over', async () => {
  vi.useFakeTimers();
  const { shareMs } = upkeepTimes.files;
  const seen: boolean[][] = [];
  const { run } = reconciler([
    {
      name: 'files',
      async run({ isOver, isHalfOver }) {
        for (const _ of [0, 1, 2]) {
          seen.push([isHalfOver(), isOver()]);
          vi.setSystemTime(Date.now() + shareMs / 2);
        }
        return 0;
      },
    },
  ]);
  await run();
  expect(seen).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ]);
});

it('each step comes first in some run, unless it must follow another', async () => {
  vi.useFakeTimers({ now: 0 });
  const orders: string[] = [];
  let order: string[] = [];
  const step = (name: UpkeepStep['name'], more: Partial<UpkeepStep> = {}): UpkeepStep => {
    return { name, run: async () => order.push(name), ...more };
  };
  const { run } = reconciler([
    step('leases'),
    step('ledger_heads'),
    step('ledger_heads_export', { follows: 'ledger_heads' }),
    step('copies'),
  ]);
  for (const _ of [0, 1, 2]) {
    await run();
    orders.push(order.join(' '));
    order = [];
    vi.setSystemTime(Date.now() + 5 * 60_000);
  }
  expect(orders).toEqual([
    'leases ledger_heads ledger_heads_export copies',
    'ledger_heads ledger_heads_export copies leases',
    'copies leases ledger_heads ledger_heads_export',
  ]);
});

it('no step starts once the activity is cancelled', async () => {
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
  const ran: string[] = [];
  const { environment, run } = reconciler([
    {
      name: 'leases',
      async run({ isOver }) {
        environment.cancel();
        ran.push(`over: ${isOver()}`);
        return 0;
      },
    },
    { name: 'files', run: async () => ran.push('files') },
    { name: 'copies', run: async () => ran.push('copies') },
  ]);
  await run();
  expect(ran).toEqual(['over: true']);
});
