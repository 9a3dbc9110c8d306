import { condition } from '@temporalio/workflow';
import type { FinishOutcome } from '../activities/types.ts';
import { stoppedEnding } from './endings.ts';
import { clearAttention, enter, money, raiseAttention } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/** Whether a person may be asked about the charge: only then does the deadline outlast the upstream's end. */
export function mayBeReviewed({ input }: TaskRun, ending: FinishOutcome): boolean {
  return input.basis.price.reviewAbove !== undefined && ending.kind === 'succeeded';
}

/**
 * Waits until an operator accepts the charge, or fails the task; the deadline fails it too. Resolves with the end of a
 * task that is not charged.
 *
 * @param amount - The charge in micro-units.
 */
export async function reviewCharge(run: TaskRun, amount: string): Promise<FinishOutcome | 'accepted'> {
  // The job is done: a cancellation came too late.
  if (run.stop === 'cancelled') run.stop = undefined;
  if (run.stop !== undefined) return stoppedEnding(run);
  enter(run, 'attention');
  run.decision = undefined;
  run.review = amount;
  await raiseAttention(run, 'charge_review', `the charge would be ${money(run, amount)}`);
  await condition(() => run.decision !== undefined || run.stop !== undefined);
  run.review = undefined;
  enter(run, 'finishing');
  await clearAttention(run);
  return run.decision === undefined ? stoppedEnding(run) : 'accepted';
}
