import type { Worker } from '@temporalio/worker';

type Workers = ReadonlyMap<string, Worker>;

/** Those that were created and do not run yet. */
export function runNew(workers: Workers): Promise<void>[] {
  return [...workers.values()]
    .filter((worker) => worker.getState() === 'INITIALIZED')
    .map((worker) => worker.run());
}

/** Resolves when all have done what they began. */
export async function endRuns(
  workers: Workers,
  runs: readonly Promise<void>[],
  onError: (error: unknown) => void,
): Promise<void> {
  for (const worker of workers.values()) if (worker.getState() === 'RUNNING') worker.shutdown();
  for (const outcome of await Promise.allSettled(runs)) {
    if (outcome.status === 'rejected') onError(outcome.reason);
  }
}

export function isServing(worker: Worker | undefined): boolean {
  return worker?.getState() === 'RUNNING';
}

/** Activities that run now. */
export function countActivities(workers: Workers): number {
  const running = [...workers.values()].filter((worker) => worker.getState() !== 'INITIALIZED');
  return running.reduce((sum, worker) => sum + worker.getStatus().numInFlightActivities, 0);
}
