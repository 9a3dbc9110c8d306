import type { Attempt } from '../task/attempt.ts';
import type { Expected } from '../money/bill.ts';
import { formatMicros } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import { jobOf } from '../task/cost.ts';
import type { Task, TaskOutcome } from '../task/record.ts';

export interface BilledTask extends Pick<
  Task,
  'id' | 'account' | 'model' | 'output' | 'status' | 'attempts' | 'completedAt' | 'cost' | 'costUnknown'
> {
  readonly state: Pick<Task['state'], 'at'>;
  readonly outcome?: Pick<TaskOutcome, 'kind' | 'cost'>;
}

/**
 * Returns what the upstream should bill for this attempt's job, with the most reliable figure first. Empty if nothing
 * is known.
 */
export function expectedBill(task: BilledTask, attempt: Attempt, currency: string): Expected[] {
  const byRules = (cost: Micros): Expected => ({ by: 'rules', amount: formatMicros(cost), unit: currency });
  // A job is replaced only if its upstream does not bill it.
  if (attempt.state === 'failed') return [byRules(0n)];
  if (jobOf(task) !== attempt) return [];
  const { cost, costUnknown = 0, outcome } = task;
  // The task's cost is a sum over its attempts. Only the last attempt can have a known cost above zero.
  const isKnown = cost !== undefined && (costUnknown === 0 || cost > 0n);
  return [
    ...(outcome?.cost === undefined ? [] : [{ by: 'upstream', ...outcome.cost } as const]),
    ...(isKnown ? [byRules(cost)] : []),
  ];
}
