import { adviceOf, knowledgeOf, type Knowledge } from './advice.ts';
import { attentionOf, type AttentionReason } from '../task/attention.ts';
import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import { actionFieldNames, actionFields, optionOf } from './act-fields.ts';
import { actionTable, isPossibleIn, operatorActions } from './acts.ts';
import type { MoneyEffect, OperatorActionName, UpstreamBill } from './acts.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { MoneyPreview } from './money-preview.ts';
import { nextStep, type Surroundings, type Unserved } from '../task/service.ts';
import type { Task } from '../task/record.ts';
import { attemptAt, hasJob, isLost, isUnfinished, shownAttempt, stopOf } from '../task/state.ts';
import { settledAgain, unacceptable } from '../task/review.ts';
import type { Question, ShownAttempt, StateName, Stop, TaskState } from '../task/state.ts';
import { isNamed, openWaitWords, waitPlace, type WaitCause } from '../task/wait.ts';
import { waitInState } from '../task/state-wait.ts';

export interface Standing extends Knowledge, Pick<
  Task,
  | 'id' | 'state' | 'stateSince' | 'deadlineAt' | 'hold' | 'hasCallback'
  | 'charge' | 'wait' | 'concern'
> {
  readonly isRefunded?: true;
  readonly unserved?: Unserved;
  readonly attempt?: Omit<ShownAttempt, 'n'>;
} // prettier-ignore

/** The Temporal UI, the operators' API and the command line all show this. Times are in Unix milliseconds. */
export interface Situation {
  readonly name: StateName;
  readonly what: string;
  readonly waitsFor?: WaitCause;
  readonly since: number;
  readonly attention?: AttentionReason;
  /** Present even if the task needs no decision yet. */
  readonly advice?: string;
  readonly until?: number;
  readonly where?: RouteCandidate;
  readonly upstreamId?: string;
  readonly marker?: string;
  readonly charge?: Micros;
  /** Recommended actions come first. */
  readonly actions: readonly PossibleAction[];
}

interface PossibleAction {
  readonly name: OperatorActionName;
  readonly command: string;
  readonly money: MoneyPreview;
}

const suggested: Readonly<Record<AttentionReason, readonly OperatorActionName[]>> = {
  submit_ambiguous: ['retry_now', 'adopt', 'resubmit', 'complete', 'fail'],
  upstream_id_taken: ['adopt', 'resubmit', 'complete', 'fail'],
  poll_failed: ['retry_now', 'complete', 'fail'],
  charge_review: ['accept_charge', 'retry_now', 'complete', 'fail'],
  poll_failing: ['retry_now', 'complete', 'fail'],
  overdue: ['retry_now', 'extend', 'complete', 'fail'],
  channel_gone: ['complete', 'fail'],
  no_worker: ['extend', 'complete', 'fail'],
  workflow_failing: [],
  workflow_overdue: ['fail'],
  not_delivered: ['redeliver', 'refund'],
};

export function standingOf(task: Task, around?: Surroundings): Standing {
  const step = nextStep(task);
  const unserved = step === undefined ? undefined : around?.unserved(step.channel);
  const isRefunded = task.actions?.some(({ action }) => action === 'refund') === true;
  const { concern: noted, ...rest } = task;
  const concern = around === undefined ? noted : concernNow(task, around);
  const known = defined({ unserved, concern, attempt: shownAttempt(task) });
  return {
    ...rest,
    ...known,
    ...(isRefunded ? { isRefunded } : {}),
    ...(around === undefined ? {} : knowledgeOf(task, around)),
  };
}

/** Reports a removed channel or credential immediately. The reconciler records it only minutes later. */
function concernNow({ state, attempts, concern }: Task, { isGone }: Surroundings): Task['concern'] {
  const attempt = isUnfinished(state) ? attemptAt(state, attempts) : undefined;
  if (attempt === undefined) return concern;
  if (isGone(attempt)) return 'channel_gone';
  return concern === 'channel_gone' ? undefined : concern;
}

export function commandLine(task: string, action: OperatorActionName): string {
  const { fields, example } = actionTable[action];
  const needed = actionFieldNames(fields).filter((name) => fields[name] === true);
  const options = needed.map((name) => {
    const sample = example[name];
    const value = typeof sample === 'number' ? sample : actionFields[name].value.toUpperCase();
    return ` --${optionOf(name)} ${value}`;
  });
  return `gateway tasks action ${task} ${action}${options.join('')} --reason "…"`;
}

/** Pure, so that every interface describes a record in the same way. */
export function situation(standing: Standing): Situation {
  const { id, state, attempt, deadlineAt } = standing;
  const attention = attentionOf(standing);
  const waitsFor = causeOf(standing, attention);
  const asked = attention ?? (waitsFor === 'no_worker' ? waitsFor : undefined);
  const job = hasJob(state) || isLost(state) ? attempt : undefined;
  const possible = possibleNow(standing, asked);
  const endOfState = state.at === 'pausing' ? state.until : deadlineAt;
  return {
    name: state.at,
    what: whatOf(standing),
    since: sinceOf(standing, waitsFor),
    ...defined({
      waitsFor,
      attention,
      advice: adviceOf(asked, standing, possible),
      until: isUnfinished(state) ? (standing.wait?.until ?? endOfState) : undefined,
      where: job && { channel: job.channel, credential: job.credential },
      upstreamId: job?.upstreamId,
      marker: isLost(state) ? job?.marker : undefined,
      charge: proposedCharge(state),
    }),
    actions: possible.map((action) => ({
      name: action,
      command: commandLine(id, action),
      money: moneyOf(action, standing),
    })),
  };
}

export function proposedCharge(state: TaskState): Micros | undefined {
  return state.at === 'review' && 'charge' in state ? BigInt(state.charge) : undefined;
}

/** Returns the cause of the wait. If there are several, returns the one that an operator can act on. */
function causeOf(
  { state, wait, unserved }: Standing,
  attention: AttentionReason | undefined,
): WaitCause | undefined {
  const inState = waitInState(state, []);
  if (inState === undefined) return undefined;
  return attention ?? (unserved === undefined ? undefined : 'no_worker') ?? wait?.cause ?? inState.cause;
}

/** For `no_worker`, the wait begins when the last worker was seen or when the state began, whichever is later. */
function sinceOf({ stateSince, wait, unserved }: Standing, waitsFor: WaitCause | undefined): number {
  if (waitsFor === 'no_worker') return Math.max(stateSince, unserved?.since ?? 0);
  return wait?.cause === waitsFor ? (wait?.since ?? stateSince) : stateSince;
}

/** This sentence follows the one about the state, so it adds only what that sentence does not say. */
function waitSentence({ wait }: Standing): string {
  if (wait === undefined || !isNamed(wait.cause)) return '';
  const place = waitPlace(wait);
  return ` ${place === '' ? '' : `${place}: `}${openWaitWords(wait)}`;
}

function possibleNow(
  standing: Standing,
  attention: AttentionReason | undefined,
): readonly OperatorActionName[] {
  const advised = attention === undefined ? [] : suggested[attention];
  const names = [...new Set([...advised, ...operatorActions])];
  return names.filter(
    (name) => isPossibleIn(name, standing.state.at) && (isSensible[name]?.(standing) ?? true),
  );
}

/** Conditions that the action table cannot express, such as that there is something to undo, redeliver or refund. */
const isSensible: Readonly<Partial<Record<OperatorActionName, (standing: Standing) => boolean>>> = {
  undo: ({ attempt }) => attempt?.adopted === true,
  accept_charge: ({ state }) => state.at === 'review' && unacceptable[state.why] === undefined,
  retry_now: (standing) =>
    standing.state.at === 'review' ? settledAgain(standing.state).ok : standing.isUnsearchable === undefined,
  redeliver: ({ hasCallback, isForgotten }) => hasCallback && isForgotten === undefined,
  resubmit: ({ isForgotten }) => isForgotten === undefined,
  refund: ({ charge = 0n, isRefunded }) => charge > 0n && isRefunded === undefined,
};

function moneyOf(action: OperatorActionName, standing: Standing): MoneyPreview {
  const { money, bills } = actionTable[action];
  return { ...nothing, ...moneyMoved[money](standing), unpaidJobs: unpaidJobs[bills](standing) };
}

const nothing: MoneyPreview = { charged: 0n, released: 0n, refunded: 0n, unpaidJobs: 0 };

const unpaidJobs: Readonly<Record<UpstreamBill, (standing: Standing) => number>> = {
  none: () => 0,
  unpaid: ({ state }) => (hasJob(state) || isLost(state) ? 1 : 0),
  twice: () => 1,
};

const moneyMoved: Readonly<Record<MoneyEffect, (standing: Standing) => Partial<MoneyPreview>>> = {
  none: () => ({}),
  releases: ({ state, hold }) => {
    const staysHeld = state.at === 'review' && state.why === 'unreleased';
    return { released: staysHeld ? 0n : hold };
  },
  by_facts: () => ({ charged: null, released: null }),
  proposed: ({ state, hold }) => {
    const charged = proposedCharge(state) ?? 0n;
    return { charged, released: hold > charged ? hold - charged : 0n };
  },
  refunds: ({ charge = 0n }) => ({ refunded: charge }),
};

const stopSentences: Readonly<Record<Stop, string>> = {
  cancel: ' Cancellation was requested.',
  expire: ' Its deadline has passed.',
  fail: ' An operator has decided to fail the task.',
};

const reviewSentences: Readonly<Record<Question['why'], string>> = {
  above_hold: 'The job succeeded, but its charge awaits a decision, because it is far above the hold.',
  beyond_request:
    'The job succeeded, but its charge awaits a decision, because the upstream reports more than the request and its model allow.',
  contradictory:
    'The job succeeded, but its charge awaits a decision, because the upstream’s numbers contradict each other or cannot be true.',
  unwritable:
    'The job succeeded, but its charge awaits a decision, because it is more than the ledger can store.',
  unsettled: 'The job succeeded, but its charge could not be computed or written.',
  unreleased: 'The task fails, but the ledger does not allow the release of its hold.',
};

/**
 * These replace the sentence about the state, because the workflow may learn of a concern before it learns of a new
 * state.
 */
const concernSentences: Readonly<Partial<Record<AttentionReason, string>>> = {
  poll_failing: 'Polls of the task’s job are failing.',
  overdue: 'The task’s job is taking five times as long as usual.',
  channel_gone:
    'The running configuration no longer contains the channel, the credential or the channel’s model.',
  workflow_failing: 'The steps of the task’s workflow fail repeatedly.',
  workflow_overdue: 'The task’s workflow should have ended the task, but is still running.',
};

function whatOf(standing: Standing): string {
  const { unserved, state } = standing;
  const stop = stopOf(state);
  const noted = concernSentences[attentionOf(standing) ?? 'no_worker'];
  if (noted !== undefined) return `${noted}${stop === undefined ? '' : stopSentences[stop]}`;
  if (unserved === undefined) return whatOfState(standing);
  const { channel } = unserved;
  return `${channel === undefined ? 'No worker is running.' : `No running worker serves ${channel}.`} ${whatOfState(standing)}`;
}

function whatOfState(standing: Standing): string {
  const { state, attempt } = standing;
  const stop = stopOf(state);
  const ending = stop === undefined ? '' : stopSentences[stop];
  const channel = attempt?.channel ?? '';
  switch (state.at) {
    case 'creating':
    case 'queued':
    case 'sending': {
      const where = state.left.map((candidate) => candidate.channel).join(', ');
      const why = state.replaces === true ? ' The previous job failed at its upstream.' : '';
      return `The task is being submitted or is waiting for submission (channels: ${where}). After that, it waits until its job ends.${waitSentence(standing)}${why}${ending}`;
    }
    case 'pausing':
      return `No channel in the plan accepts the task at the moment (round ${state.round}).${waitSentence(standing)}`;
    case 'searching':
    case 'asking':
      if (state.taken === true)
        return `${channel} accepted the submission, but returned the id of a job that belongs to another task.${ending}`;
      return state.at === 'asking'
        ? `The response of ${channel} to the submission was lost (${state.code}).`
        : `The response of ${channel} was lost; looking for the job there.${ending}`;
    case 'waiting':
    case 'stopping':
      return `Waiting for ${channel}.${ending}`;
    case 'broken':
      return `Polling ${channel} has stopped (${state.code}).`;
    case 'review':
      return reviewSentences[state.why];
    case 'ending':
      return `The task ends: it ${state.ending.kind === 'succeeded' ? 'succeeds' : 'fails'}.`;
    case 'ended':
      return 'The task has ended.';
    default:
      return state satisfies never;
  }
}
