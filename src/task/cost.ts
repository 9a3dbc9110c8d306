import { mayHaveJob, type Attempt } from './attempt.ts';
import { worthOf } from '../money/cost.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import { amountMax, type Micros } from '../money/money.ts';
import { isUnbilled } from './rescue.ts';
import type { Task, TaskOutcome } from './record.ts';

export interface TaskCost {
  /** Excludes the costs counted in `unknown`. */
  readonly cost: Micros;
  readonly unknown: number;
}

/** The part that the ledger stores with the task's closing entry. */
export interface UpstreamCost extends TaskCost {
  readonly model: string;
  readonly channel: string;
}

type Costing = Pick<Task, 'attempts' | 'outcome' | 'error' | 'state'>;

/**
 * Returns the task's total cost. `byRules` is the last job's cost according to the frozen rules, or undefined if there
 * are no rules or none applies.
 */
export function costOfTask(task: Costing, byRules: Micros | undefined): TaskCost {
  const last = jobOf(task);
  const costs = task.attempts.flatMap((attempt) => [
    attempt === last ? costOfLastJob(task, attempt.terms, byRules) : costOfOther(attempt),
    ...(attempt.stray === undefined ? [] : [undefined]),
  ]);
  return totalCost(costs);
}

/**
 * Adds up costs. An undefined cost is unknown. If the sum exceeds what the ledger can store, every cost counts as
 * unknown.
 */
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
  // If no attempt was accepted but the task succeeded, an operator completed the task without identifying its job.
  return accepted ?? (outcome?.kind === 'succeeded' ? attempts.findLast(mayHaveJob) : undefined);
}

/**
 * Whether the frozen rules determine the job's cost. This is the case if the job succeeded, or if it failed and its
 * upstream bills failed jobs.
 */
export function isBilledByRules({ outcome }: Pick<Task, 'outcome'>, terms: CostTerms | undefined): boolean {
  return outcome?.kind === 'succeeded' || (outcome?.kind === 'failed' && terms?.failed === 'billed');
}

function costOfLastJob(task: Costing, terms: CostTerms | undefined, byRules: Micros | undefined) {
  const { outcome } = task;
  // Upstreams do not bill cancelled jobs. Every adapter guarantees this.
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
 * Returns the cost of an attempt that did not decide the outcome. A job is replaced only if its upstream does not bill
 * it, and a rejected submission never became a job.
 */
function costOfOther({ state }: Attempt): Micros | undefined {
  return state === 'failed' || state === 'not_accepted' || state === 'rejected' ? 0n : undefined;
}
