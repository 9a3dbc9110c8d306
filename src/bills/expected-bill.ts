import type { Attempt } from '../task/attempt.ts';
import type { Expected } from '../money/bill.ts';
import { formatMicros, type Micros } from '../money/money.ts';
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
 * Returns what the upstream is expected to bill for the attempt, with the most reliable figure first. Empty if nothing
 * is known.
 */
export function expectedBill(task: BilledTask, attempt: Attempt, currency: string): Expected[] {
  const byRules = (cost: Micros): Expected => ({ by: 'rules', amount: formatMicros(cost), unit: currency });
  if (attempt.state === 'failed') return [byRules(0n)];
  if (jobOf(task) !== attempt) return [];
  const { cost, costUnknown = 0, outcome } = task;
  // Only the last of the task's attempts can cost anything, so a cost above zero is that attempt's.
  const isKnown = cost !== undefined && (costUnknown === 0 || cost > 0n);
  return [
    ...(outcome?.cost === undefined ? [] : [{ by: 'upstream', ...outcome.cost } as const]),
    ...(isKnown ? [byRules(cost)] : []),
  ];
}
