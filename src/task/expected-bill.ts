import type { Attempt } from './attempt.ts';
import type { Expected } from '../money/bill.ts';
import { formatMicros } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import { jobOf } from './cost.ts';
import type { Task, TaskOutcome } from './record.ts';

/** What of a task says what its jobs should cost. */
export interface BilledTask extends Pick<
  Task,
  'id' | 'account' | 'model' | 'output' | 'status' | 'attempts' | 'completedAt' | 'cost' | 'costUnknown'
> {
  readonly outcome?: Pick<TaskOutcome, 'kind' | 'cost'>;
}

/** What the upstream should bill for the job of this attempt, best known first; empty: nothing says. */
export function expectedBill(task: BilledTask, attempt: Attempt, currency: string): Expected[] {
  const byRules = (cost: Micros): Expected => ({ by: 'rules', amount: formatMicros(cost), unit: currency });
  // Only a job that its upstream does not bill is replaced.
  if (attempt.state === 'failed') return [byRules(0n)];
  if (jobOf(task) !== attempt) return [];
  const { cost, costUnknown = 0, outcome } = task;
  // Of several attempts only the last one has a known cost above nothing.
  const isKnown = cost !== undefined && (costUnknown === 0 || cost > 0n);
  return [
    ...(outcome?.cost === undefined ? [] : [{ by: 'upstream', ...outcome.cost } as const]),
    ...(isKnown ? [byRules(cost)] : []),
  ];
}
