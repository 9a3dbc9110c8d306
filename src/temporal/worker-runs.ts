import type { Worker } from '@temporalio/worker';

type Workers = ReadonlyMap<string, Worker>;

export function runNew(workers: Workers): Promise<void>[] {
  return [...workers.values()]
    .filter((worker) => worker.getState() === 'INITIALIZED')
    .map((worker) => worker.run());
}

/**
 * Resolves when all runs have finished, and rejects if one fails. Does not cause an unhandled rejection, because
 * `endRuns` reports the failure too, and not every caller that stops a worker awaits this promise.
 */
export function allEnded(runs: readonly Promise<void>[]): Promise<void> {
  const ended = Promise.all(runs).then(() => undefined);
  ended.catch(() => undefined);
  return ended;
}

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

export function countActivities(workers: Workers): number {
  const running = [...workers.values()].filter((worker) => worker.getState() !== 'INITIALIZED');
  return running.reduce((sum, worker) => sum + worker.getStatus().numInFlightActivities, 0);
}
