import type { Logger } from '../src/observability/log.ts';
import type { TaskStore } from '../src/store/tasks.ts';

const everyMs = 1_000;
const maxMsDefault = 240_000;

interface Persistence {
  readonly tasks: Pick<TaskStore, 'isOutage'>;
  readonly log: Logger;
  readonly now: () => number;
  readonly maxMs?: number;
}

/**
 * Repeats a write while its storage is away, for minutes if it must be: only we know an upstream's answer. The write must
 * be repeatable. Rejects at once with what no repetition changes, and after `maxMs` (four minutes) with the last error.
 */
export async function persistently<Result>(
  write: () => Promise<Result>,
  { tasks, log, now, maxMs = maxMsDefault }: Persistence,
): Promise<Result> {
  const endsAt = now() + maxMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (err) {
      if (!tasks.isOutage(err) || now() > endsAt) throw err;
      if (tries === 1) log.warn({ err }, 'the storage is away; a write is repeated until it succeeds');
      await new Promise((resolve) => void setTimeout(resolve, everyMs));
    }
  }
}
