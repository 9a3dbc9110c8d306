import type { Attempt } from '../src/store/attempts.ts';
import type { TaskActivityDeps } from './deps.ts';
import type { AcceptedJob } from './types.ts';

/** Whether a submission has been accepted, while the activity that made it still waits for the end of its job. */
export function createFindJob({ attempts }: Pick<TaskActivityDeps, 'attempts'>) {
  return async function findJob(task: string, n: number): Promise<AcceptedJob | undefined> {
    const begun = await attempts.ofTask(task);
    const attempt = begun.find((one) => one.n === n);
    return attempt?.state === 'accepted' || attempt?.state === 'failed' ? jobOf(attempt) : undefined;
  };
}

/** Undefined: the upstream has not accepted it. */
export function jobOf(attempt: Attempt): AcceptedJob | undefined {
  const { channel, credential, operation, startedAt, endedAt } = attempt;
  if (operation === undefined) return undefined;
  return { candidate: { channel, credential }, operation, acceptedAt: endedAt ?? startedAt };
}
