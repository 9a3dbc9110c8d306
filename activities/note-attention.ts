import type { AttentionReason } from '../src/domain/attention.ts';
import type { TaskActivityDeps } from './deps.ts';
import type { LostJob } from './types.ts';

/** Puts the request for an operator, or its end, into the projection. */
export function createNoteAttention({ tasks, log }: TaskActivityDeps) {
  return async function noteAttention(
    task: string,
    asked: AttentionReason | LostJob | undefined,
    version: string,
  ): Promise<void> {
    const reason = reasonOf(asked);
    if (reason !== undefined) log.warn({ task, reason }, 'a task needs an operator');
    if (typeof asked === 'object') await tasks.showLost(task, asked, BigInt(version));
    await tasks.setAttention(task, reason, BigInt(version));
  };
}

export function reasonOf(asked: AttentionReason | LostJob | undefined): AttentionReason | undefined {
  return typeof asked === 'object' ? asked.reason : asked;
}
