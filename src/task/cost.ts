import { mayHaveJob, type Attempt } from './attempt.ts';
import { worthOf } from '../money/cost.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import { amountMax, type Micros } from '../money/money.ts';
import { isUnbilled } from './rescue.ts';
import type { Task, TaskOutcome } from './record.ts';

export interface TaskCost {
  readonly cost: Micros;
  readonly unknown: number;
}

export interface UpstreamCost extends TaskCost {
  readonly model: string;
  readonly channel: string;
}

type Costing = Pick<Task, 'attempts' | 'outcome' | 'error' | 'state'>;

/**
 * `byRules` is the cost of the last job according to the frozen terms. It is undefined if the terms do not cover the
 * job.
 */
export function costOfTask(task: Costing, byRules: Micros | undefined): TaskCost {
  const last = jobOf(task);
  const costs = task.attempts.flatMap((attempt) => [
    attempt === last ? costOfLastJob(task, attempt.terms, byRules) : costOfOther(attempt),
    ...(attempt.stray === undefined ? [] : [undefined]),
  ]);
  return totalCost(costs);
}

/** If the sum is larger than the ledger can store, all costs are counted as unknown. */
export function totalCost(costs: readonly (Micros | undefined)[]): TaskCost {
  const known = costs.filter((cost) => cost !== undefined);
  const cost = known.reduce((sum, one) => sum + one, 0n);
  if (cost > amountMax) return { cost: 0n, unknown: costs.length };
  return { cost, unknown: costs.length - known.length };
}

interface Ended extends Pick<Task, 'attempts'> {
  readonly outcome?: Pick<TaskOutcome, 'kind'>;
}

export function jobOf({ attempts, outcome }: Ended): Attempt | undefined {
  const accepted = attempts.findLast(({ state }) => state === 'accepted');
  // A task can succeed without an accepted attempt only if an operator completed it without identifying its job.
  return accepted ?? (outcome?.kind === 'succeeded' ? attempts.findLast(mayHaveJob) : undefined);
}

/** The frozen terms apply if the job succeeded, or if it failed and the upstream bills failed jobs. */
export function isBilledByRules({ outcome }: Pick<Task, 'outcome'>, terms: CostTerms | undefined): boolean {
  return outcome?.kind === 'succeeded' || (outcome?.kind === 'failed' && terms?.failed === 'billed');
}

function costOfLastJob(task: Costing, terms: CostTerms | undefined, byRules: Micros | undefined) {
  const { outcome } = task;
  // Every adapter guarantees that a cancelled job is not billed.
  if (outcome === undefined) return wasCancelled(task) ? 0n : undefined;
  const reported = outcome.cost === undefined ? undefined : worthOf(outcome.cost, terms?.worths ?? {});
  if (reported !== undefined) return reported;
  if (isBilledByRules(task, terms)) return byRules;
  const isFree = outcome.kind === 'failed' && (terms?.failed === 'free' || isUnbilled(outcome));
  return isFree ? 0n : undefined;
}

function wasCancelled({ state }: Costing): boolean {
  return (
    state.at === 'ending' && state.ending.kind === 'failed' && state.ending.error?.code === 'task_cancelled'
  );
}

/**
 * These cost nothing: a failed job is replaced only if the upstream does not bill it, and a refused submission never
 * became a job.
 */
function costOfOther({ state }: Attempt): Micros | undefined {
  return state === 'failed' || state === 'not_accepted' || state === 'rejected' ? 0n : undefined;
}
