import { performance } from 'node:perf_hooks';

export interface LoadResult {
  readonly concurrency: number;
  readonly count: number;
  readonly failed: number;
  readonly firstError?: string;
  readonly seconds: number;
  readonly rate: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export interface LoadOptions {
  readonly concurrency: number;
  /** After this many seconds, no more calls start. */
  readonly seconds: number;
  readonly countMax: number;
  readonly once: (caller: number) => Promise<void>;
}

const failuresMax = 100;

/** Each connection makes its next call as soon as the previous one has ended. */
export async function runLoad({ concurrency, seconds, countMax, once }: LoadOptions): Promise<LoadResult> {
  const latencies = new Float64Array(countMax);
  let begun = 0;
  let done = 0;
  let failed = 0;
  let firstError: string | undefined;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const call = async (caller: number): Promise<void> => {
    while (begun < countMax && failed < failuresMax && performance.now() < endsAt) {
      begun += 1;
      const calledAt = performance.now();
      try {
        await once(caller);
        latencies[done] = performance.now() - calledAt;
        done += 1;
      } catch (error) {
        failed += 1;
        firstError ??= error instanceof Error ? error.message : String(error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, caller) => call(caller)));
  const elapsed = (performance.now() - startedAt) / 1000;
  const sorted = latencies.subarray(0, done).sort();
  return {
    concurrency,
    count: done,
    failed,
    ...(firstError === undefined ? {} : { firstError }),
    seconds: elapsed,
    rate: done / elapsed,
    p50: percentile(sorted, 50),
    p90: percentile(sorted, 90),
    p99: percentile(sorted, 99),
  };
}

function percentile(sorted: Float64Array, percent: number): number {
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(0, rank - 1)] ?? Number.NaN;
}

export function middleRun(runs: readonly LoadResult[]): LoadResult {
  const sorted = runs.toSorted((a, b) => a.rate - b.rate);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw new Error('no run was made');
  return middle;
}
