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
 * Repeats a write while its storage is unavailable, for minutes if necessary, because only this process knows the
 * upstream's response. The write must be idempotent. Rejects immediately if repeating cannot help. Otherwise rejects
 * with the last error after `maxMs` (by default, four minutes).
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
      if (tries === 1) log.warn({ err }, 'the storage does not respond; retrying a write until it succeeds');
      await new Promise((resolve) => void setTimeout(resolve, everyMs));
    }
  }
}
