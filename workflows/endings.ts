import type { FinishOutcome } from '../activities/types.ts';
import { taskFailures } from '../src/domain/task-failures.ts';
import type { TaskRun } from './task-run.ts';

/** The endings of a task that its upstream did not decide. */
export const expiredEnding: FinishOutcome = { kind: 'failed', error: taskFailures.expired };
export const cancelledEnding: FinishOutcome = { kind: 'failed', error: taskFailures.cancelled };
export const operatorEnding: FinishOutcome = { kind: 'failed', error: taskFailures.operator };
export const interruptedEnding: FinishOutcome = { kind: 'failed', error: taskFailures.interrupted };

/** Why a task ends that was stopped before it had a job. */
export function stoppedEnding(run: TaskRun): FinishOutcome {
  if (run.stop === 'deadline') return expiredEnding;
  if (run.stop === 'operator') return operatorEnding;
  return cancelledEnding;
}
