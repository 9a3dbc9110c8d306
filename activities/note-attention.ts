import type { AttentionReason } from '../src/domain/attention.ts';
import type { TaskActivityDeps } from './deps.ts';

/** Puts the request for an operator, or its end, into the projection. */
export function createNoteAttention({ tasks, log }: TaskActivityDeps) {
  return async function noteAttention(
    task: string,
    reason: AttentionReason | undefined,
    version: string,
  ): Promise<void> {
    if (reason !== undefined) log.warn({ task, reason }, 'a task needs an operator');
    await tasks.setAttention(task, reason, BigInt(version));
  };
}
