import type { AttentionReason } from '../src/domain/attention.ts';
import { ApplicationFailure, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { AcceptedJob, FinishOutcome, SubmitInput, TaskEnding } from '../activities/types.ts';
import { markerOf } from '../src/domain/ids.ts';
import type { AttendedSubmission } from './attended-submission.ts';
import type { ConcernNews } from '../activities/deps.ts';
import type { PollConcern } from '../src/domain/poll-concern.ts';
import { formatMicros } from '../src/domain/money.ts';
import type { TaskSituation } from '../src/domain/operator-actions.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { TaskInput } from '../src/domain/task-input.ts';
import { noteAttention } from './activity-proxies.ts';
import type { LocalTurns } from './activity-proxies.ts';
import { searchAttributes } from './search-attributes.ts';

export type Phase = 'admitting' | 'submitting' | 'attention' | 'watching' | 'finishing' | 'ended';

/** Where each phase may lead. A job that waits for a person keeps its money and its deadline. */
const nextPhases: Readonly<Record<Phase, readonly Phase[]>> = {
  admitting: ['submitting', 'watching', 'finishing', 'ended'],
  submitting: ['attention', 'watching', 'finishing'],
  attention: ['submitting', 'watching', 'finishing'],
  watching: ['submitting', 'attention', 'finishing'],
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

/** The job has failed, or was rejected, and the task continues at these channels. */
export interface Replacement {
  readonly kind: 'replaced';
  readonly candidates: readonly RouteCandidate[];
}

/** Why the wait ends before the upstream has ended the job. */
export type Stop = 'deadline' | 'cancelled' | 'operator';

/** What an operator decided about a task that waits for it. */
export type Decision =
  /** Poll again, or accept the charge. */
  | { readonly kind: 'continue' }
  /** The lost submission's job was found, or named. */
  | { readonly kind: 'job'; readonly job: AcceptedJob }
  /** Submit again, here. */
  | { readonly kind: 'again'; readonly candidate: RouteCandidate }
  /** It was certainly not accepted: the plan continues. */
  | { readonly kind: 'next' }
  | { readonly kind: 'end'; readonly ending: FinishOutcome | Replacement }
  /** The job that was adopted is not the task's. */
  | { readonly kind: 'undone' };

/** A submission whose outcome nobody knows. */
export interface LostSubmission {
  readonly input: SubmitInput;
  readonly code: string;
}

/** The state of one task's workflow. */
export interface TaskRun extends LocalTurns {
  readonly input: TaskInput;
  phase: Phase;
  /** Number of submission attempts so far. */
  attempts: number;
  versions: number;
  job: AcceptedJob | undefined;
  /** The submission whose activity waits for the job as well, until the workflow waits in another way. */
  attended: AttendedSubmission | undefined;
  /** Until the activity that the workflow has left is over. */
  left: Promise<unknown> | undefined;
  /** The channel in the search attributes. */
  shownChannel: string | undefined;
  stop: Stop | undefined;
  /** The task is to be cancelled before it is sent. */
  withdraw: boolean;
  /** Unix milliseconds; an operator may move it. */
  deadlineAt: number;
  decision: Decision | undefined;
  /** The submission that an operator is, or was last, asked about. */
  lost: LostSubmission | undefined;
  /** The job came from an operator, who may take it back. */
  isAdopted: boolean;
  /** An operator's action that is being checked: what it decides comes before everything else. */
  acting: boolean;
  /** The pause between two rounds of submissions. */
  isPausing: boolean;
  /** An operator ended the pause. */
  retryNow: boolean;
  /** The wait for the upstream has to begin again, with another deadline. */
  restartPoll: boolean;
  /** The charge in micro-units, while an operator is asked about it. */
  review: string | undefined;
  /** What the Temporal UI shows, and what was added to it for as long as the task lives. */
  details: string;
  notice: string | undefined;
  /** What the poll asks a person to look at. */
  concern: PollConcern | undefined;
  ending: TaskEnding | undefined;
  /** A poll that was cancelled, and that a worker may still have. */
  leavingPoll: Promise<unknown> | undefined;
}

export function newTaskRun(input: TaskInput): TaskRun {
  return {
    input,
    lastLocal: Promise.resolve(),
    phase: 'admitting',
    attempts: 0,
    versions: 0,
    job: undefined,
    attended: undefined,
    left: undefined,
    shownChannel: input.candidates[0]?.channel,
    stop: undefined,
    withdraw: false,
    deadlineAt: input.deadlineAt,
    decision: undefined,
    lost: undefined,
    isAdopted: false,
    acting: false,
    isPausing: false,
    retryNow: false,
    restartPoll: false,
    review: undefined,
    details: '',
    notice: undefined,
    concern: undefined,
    ending: undefined,
    leavingPoll: undefined,
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
  return Math.max(0, run.deadlineAt - Date.now());
}

const situations: Readonly<Record<Exclude<Phase, 'attention'>, TaskSituation>> = {
  admitting: 'admitting',
  submitting: 'submitting',
  watching: 'watching',
  finishing: 'ending',
  ended: 'ended',
};

export function situationOf({ phase, review, job, attended }: TaskRun): TaskSituation {
  if (phase === 'submitting' && attended !== undefined) return job === undefined ? 'attended' : 'watching';
  if (phase !== 'attention') return situations[phase];
  if (review !== undefined) return 'review';
  return job === undefined ? 'lost' : 'broken';
}

/** `0.762300 USD`, from micro-units. */
export function money({ input }: TaskRun, micros: string): string {
  return `${formatMicros(BigInt(micros))} ${input.currency}`;
}

const advice: Record<Exclude<AttentionReason, `workflow_${string}` | PollConcern>, string> = {
  submit_ambiguous:
    'The submission may have reached the upstream, and the job may be billed: it is never resubmitted automatically. ' +
    'Look for it in the upstream’s console, then use `adopt` (with its upstream id), `resubmit`, `complete` or `fail`.',
  poll_failed:
    'Polling stopped with an error that retrying will not fix. Fix the cause, then use `retry_now`, or `complete` or `fail`.',
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
  run.concern = undefined;
  describe(
    run,
    `**Needs attention: ${reason}** (${detail})\n\n${advice[reason]}\n\n${commandFor(run, reason)}\n\nThe hold is kept until the deadline.`,
  );
  const lost = reason === 'submit_ambiguous' ? run.lost?.input.candidate : undefined;
  const asked = lost === undefined ? reason : { reason, ...lost };
  await noteAttention(run, run.input.task, asked, nextVersion(run));
}

/** A line that can be copied. */
export function commandLine({ input: { task } }: TaskRun, action: string): string {
  return `\`gateway tasks action ${task} ${action} --reason "…"\``;
}

/** What is said where a person chooses: each is tried first. */
function commandLines(run: TaskRun, actions: readonly string[]): string {
  return `${actions.map((action) => `- ${commandLine(run, action)}`).join('\n')}\n\nEach first with \`--dry-run\`.`;
}

/** Where the job is, or may be, and the command of every action that is advised. */
function commandFor(run: TaskRun, reason: keyof typeof advice): string {
  const { lost, job } = run;
  const jobThere = `Channel **${job?.candidate.channel ?? ''}**, job \`${job?.operation.id ?? ''}\`.`;
  switch (reason) {
    case 'submit_ambiguous': {
      if (lost === undefined) return commandLines(run, ['fail']);
      const { candidate, n, task } = lost.input;
      const where = `Channel **${candidate.channel}**, credential ${candidate.credential}, marker \`${markerOf({ task, n })}\`.`;
      return `${where}\n\n${commandLines(run, ['adopt --upstream-id ID', 'resubmit', 'complete --result-url URL', 'fail'])}`;
    }
    case 'poll_failed':
      return `${jobThere}\n\n${commandLines(run, ['retry_now', 'complete --result-url URL', 'fail'])}`;
    case 'charge_review':
      return `${jobThere}\n\n${commandLines(run, ['accept_charge', 'fail'])}`;
    default:
      return reason satisfies never;
  }
}

const concernActions: Record<PollConcern, readonly string[]> = {
  poll_failing: ['retry_now', 'complete --result-url URL', 'fail'],
  overdue: ['retry_now', 'extend --seconds 3600', 'complete --result-url URL', 'fail'],
};

const concerns: Record<PollConcern, string> = {
  poll_failing:
    'Polling fails, and continues. Check the channel’s key, balance and address; `retry_now` polls immediately.',
  overdue:
    'The job takes five times as long as usual; polling continues. Look for it in the upstream’s console; `extend` gives ' +
    'it more time, `complete` and `fail` end the wait.',
};

/** The poll has written the same into the projection. */
export function noteConcern(run: TaskRun, { concern, text }: ConcernNews): void {
  const isPolled = run.phase === 'watching' && run.job !== undefined;
  if (!isPolled && situationOf(run) !== 'attended') return;
  if (concern !== run.concern) {
    upsertSearchAttributes([{ key: searchAttributes.needsAttention, value: concern ?? null }]);
  }
  run.concern = concern;
  describeWait(run, text);
}

/** What a task with a job waits for. */
export function describeWait(run: TaskRun, text = ''): void {
  const { job, concern, attended } = run;
  const channel = job?.candidate.channel ?? attended?.input.candidate.channel ?? '';
  const id = job === undefined ? '' : `, job \`${job.operation.id}\``;
  const waiting = `Waiting for **${channel}**${id}. ` + `${commandLine(run, 'retry_now')} polls immediately.`;
  const asked =
    concern === undefined
      ? ''
      : `**Needs attention: ${concern}** (${text})\n\n${concerns[concern]}\n\n${commandLines(run, concernActions[concern])}\n\n`;
  describe(run, `${asked}${waiting}`);
}

/** Each write of a search attribute costs the server as much as a step of the task: the planned channel needs none. */
export function showChannel(run: TaskRun, channel: string): void {
  if (channel !== run.shownChannel)
    upsertSearchAttributes([{ key: searchAttributes.channel, value: channel }]);
  run.shownChannel = channel;
}

export async function clearAttention(run: TaskRun): Promise<void> {
  upsertSearchAttributes([{ key: searchAttributes.needsAttention, value: null }]);
  await noteAttention(run, run.input.task, undefined, nextVersion(run));
}

/**
 * Markdown for the Temporal UI: what the task waits for, since when, what an operator can do. Costs no history event.
 */
export function describe(run: TaskRun, text: string): void {
  const at = new Date(Date.now()).toISOString();
  const deadline = new Date(run.deadlineAt).toISOString();
  const held = money(run, run.input.hold);
  run.details = text;
  const shown = run.notice === undefined ? text : `${text}\n\n${run.notice}`;
  setCurrentDetails(`${shown}\n\nSince ${at}. Deadline ${deadline}. Held ${held}.`);
}
