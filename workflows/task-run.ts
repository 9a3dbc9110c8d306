import type { AttentionReason } from '../src/domain/attention.ts';
import { ApplicationFailure, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { AcceptedJob, FinishOutcome } from '../activities/types.ts';
import type { Admission, OperatorAction, TaskInput } from '../src/domain/task-input.ts';
import { noteAttention } from './activity-proxies.ts';
import { searchAttributes } from './search-attributes.ts';

export type Phase = 'admitting' | 'submitting' | 'attention' | 'watching' | 'finishing' | 'ended';

/** Where each phase may lead. A job that waits for a person keeps its money and its deadline. */
const nextPhases: Readonly<Record<Phase, readonly Phase[]>> = {
  admitting: ['submitting', 'watching', 'finishing', 'ended'],
  submitting: ['attention', 'watching', 'finishing'],
  attention: ['submitting', 'watching', 'finishing'],
  watching: ['attention', 'finishing'],
  finishing: ['attention', 'ended'],
  ended: [],
};

/** The only writer of `run.phase`. With `details`, the Temporal UI shows them from now on. */
export function enter(run: TaskRun, phase: Phase, details?: string): void {
  if (!nextPhases[run.phase].includes(phase)) {
    throw ApplicationFailure.nonRetryable(`a task cannot go from ${run.phase} to ${phase}`, 'IllegalPhase');
  }
  run.phase = phase;
  if (details !== undefined) describe(run, details);
}

/** Why the wait ends before the upstream has ended the job. */
export type Stop = 'deadline' | 'cancelled' | 'operator';

/** The state of one task's workflow. */
export interface TaskRun {
  readonly input: TaskInput;
  phase: Phase;
  admission: Admission | undefined;
  /** Number of submission attempts so far. */
  attempts: number;
  versions: number;
  job: AcceptedJob | undefined;
  stop: Stop | undefined;
  /** The task is to be cancelled before it is sent. */
  withdraw: boolean;
  /** What an operator decided about a task that needs attention. */
  decision: OperatorAction | undefined;
  /** The charge in micro-units, while an operator is asked about it. */
  review: string | undefined;
  ending: FinishOutcome | undefined;
}

export function newTaskRun(input: TaskInput): TaskRun {
  return {
    input,
    phase: 'admitting',
    admission: undefined,
    attempts: 0,
    versions: 0,
    job: undefined,
    stop: undefined,
    withdraw: false,
    decision: undefined,
    review: undefined,
    ending: undefined,
  };
}

/**
 * Orders writes to the projection: `workflowTime · 1000 + counter`. Workflow time, because after a reset the counter
 * starts again below what the dead run wrote.
 */
export function nextVersion(run: TaskRun): string {
  run.versions += 1;
  return String(Date.now() * 1000 + (run.versions % 1000));
}

export function remainingMs(run: TaskRun): number {
  return Math.max(0, run.input.deadlineAt - Date.now());
}

const advice: Record<Exclude<AttentionReason, 'workflow_overdue'>, string> = {
  submit_ambiguous:
    'The submission may have reached the upstream, and the job may be billed: it is never resubmitted automatically. ' +
    'Look for it in the upstream’s console, then use `adopt` (with its upstream id), `resubmit` or `fail`.',
  poll_failed:
    'Polling stopped with an error that retrying will not fix. Fix the cause, then use `poll`, or `fail`.',
  charge_review:
    'The job succeeded, and its charge exceeds what the model’s `hold.review_above` allows. Check the usage that the ' +
    'upstream reported, then use `accept_charge`, or `fail`, which charges nothing.',
};

/** Asks for an operator, everywhere that operators look. */
export async function raiseAttention(
  run: TaskRun,
  reason: keyof typeof advice,
  detail: string,
): Promise<void> {
  upsertSearchAttributes([{ key: searchAttributes.needsAttention, value: reason }]);
  describe(
    run,
    `**Needs attention: ${reason}** (${detail})\n\n${advice[reason]}\n\nThe hold is kept until the deadline.`,
  );
  await noteAttention(run.input.task, reason, nextVersion(run));
}

export async function clearAttention(run: TaskRun): Promise<void> {
  upsertSearchAttributes([{ key: searchAttributes.needsAttention, value: null }]);
  await noteAttention(run.input.task, undefined, nextVersion(run));
}

/**
 * Markdown for the Temporal UI: what the task waits for, since when, what an operator can do. Costs no history event.
 */
export function describe(run: TaskRun, text: string): void {
  const at = new Date(Date.now()).toISOString();
  const deadline = new Date(run.input.deadlineAt).toISOString();
  setCurrentDetails(`${text}\n\nSince ${at}. Deadline ${deadline}. Held ${run.input.hold} micro-units.`);
}
