import { mayHaveJob } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { worthOf } from '../money/cost.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import { amountMax } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import { isUnbilled } from './rescue.ts';
import type { Task, TaskOutcome } from './record.ts';

/** What a task cost upstream: known in part where an attempt may have been billed and nothing says how much. */
export interface TaskCost {
  /** Sum of what is known. */
  readonly cost: Micros;
  /** Attempts whose cost is not known. */
  readonly unknown: number;
}

/** What the ledger keeps of it beside the entry that ends the task. */
export interface UpstreamCost extends TaskCost {
  readonly model: string;
  /** Of the job that counted last. */
  readonly channel: string;
}

type Costing = Pick<Task, 'attempts' | 'outcome' | 'error' | 'state'>;

/** `byRules`: what the frozen rules say of the task's last job; undefined: none holds, or there are none. */
export function costOfTask(task: Costing, byRules: Micros | undefined): TaskCost {
  const last = jobOf(task);
  const costs = task.attempts.flatMap((attempt) => [
    attempt === last ? costOfLastJob(task, attempt.terms, byRules) : costOfOther(attempt),
    ...(attempt.stray === undefined ? [] : [undefined]),
  ]);
  return totalCost(costs);
}

/** Of several jobs, undefined where nothing says what one cost. What costs more than a ledger can hold is not known. */
export function totalCost(costs: readonly (Micros | undefined)[]): TaskCost {
  const known = costs.filter((cost) => cost !== undefined);
  const cost = known.reduce((sum, one) => sum + one, 0n);
  if (cost > amountMax) return { cost: 0n, unknown: costs.length };
  return { cost, unknown: costs.length - known.length };
}

interface Ended extends Pick<Task, 'attempts'> {
  readonly outcome?: Pick<TaskOutcome, 'kind'>;
}

/** The attempt whose job decided how the task ended. */
export function jobOf({ attempts, outcome }: Ended): Attempt | undefined {
  const accepted = attempts.findLast(({ state }) => state === 'accepted');
  // An operator has completed a task whose job was never named.
  return accepted ?? (outcome?.kind === 'succeeded' ? attempts.findLast(mayHaveJob) : undefined);
}

/** Whether the upstream bills the job by its rules although it failed. */
export function isBilledByRules({ outcome }: Pick<Task, 'outcome'>, terms: CostTerms | undefined): boolean {
  return outcome?.kind === 'succeeded' || (outcome?.kind === 'failed' && terms?.failed === 'billed');
}

function costOfLastJob(task: Costing, terms: CostTerms | undefined, byRules: Micros | undefined) {
  const { outcome } = task;
  // An upstream that has cancelled a job does not bill it: that is what its adapter promises.
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

/** Only a job that its upstream does not bill is replaced; what was refused was never begun. */
function costOfOther({ state }: Attempt): Micros | undefined {
  return state === 'failed' || state === 'not_accepted' || state === 'rejected' ? 0n : undefined;
}
