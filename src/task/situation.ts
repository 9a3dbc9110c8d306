import { attentionOf, attentionReasons } from './attention.ts';
import type { AttentionReason } from './attention.ts';
import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import { actionFieldNames, actionFields, optionOf } from './act-fields.ts';
import { actionTable, operatorActions, refusalOf } from './acts.ts';
import type { MoneyEffect, OperatorActionName, UpstreamBill } from './acts.ts';
import type { RouteCandidate } from './candidates.ts';
import type { MoneyPreview } from './money-preview.ts';
import { nextStep } from './service.ts';
import type { Surroundings, Unserved } from './service.ts';
import type { Task } from './record.ts';
import { attemptAt, hasJob, isLost, isUnfinished, shownAttempt, stopOf } from './state.ts';
import { settledAgain, unacceptable } from './review.ts';
import type { Question, ShownAttempt, StateName, Stop, TaskState } from './state.ts';
import { isWaitReason, openWaitWords, ownCauses, waitPlace } from './wait.ts';
import type { WaitCause } from './wait.ts';
import { waitInState } from './state-wait.ts';

/** What is to be known of a task to say where it stands: its record has it, and what the workflow knows of the record. */
export interface Standing extends Pick<
  Task,
  | 'id' | 'state' | 'stateSince' | 'deadlineAt' | 'hold' | 'hasCallback'
  | 'charge' | 'wait' | 'concern'
> {
  /** Its charge, or a part of it, was given back: once is all. */
  readonly isRefunded?: true;
  /** No running worker takes its next step, as far as is known. */
  readonly unserved?: Unserved;
  readonly attempt?: Omit<ShownAttempt, 'n'>;
} // prettier-ignore

/** What an unfinished task waits for, in one word: of several the one that a person can do something about. */
export const waitCauses = [...attentionReasons, ...ownCauses] as const satisfies readonly WaitCause[];

/**
 * Where a task stands, for everybody who looks: the Temporal UI, the operators' API, the command line. Times in Unix
 * milliseconds.
 */
export interface Situation {
  readonly name: StateName;
  /** What it waits for, in one sentence. */
  readonly what: string;
  /** Absent: it has ended. */
  readonly waitsFor?: WaitCause;
  /** That it waits for this. */
  readonly since: number;
  readonly attention?: AttentionReason;
  /** What a person should do; also where nobody is asked yet. */
  readonly advice?: string;
  readonly until?: number;
  /** Where the job is, or may be. */
  readonly where?: RouteCandidate;
  readonly upstreamId?: string;
  /** What to look for at the upstream. */
  readonly marker?: string;
  /** A charge that is proposed. */
  readonly charge?: Micros;
  /** All that are possible now; those that are advised come first. */
  readonly actions: readonly PossibleAction[];
}

interface PossibleAction {
  readonly name: OperatorActionName;
  /** A line that can be copied. */
  readonly command: string;
  readonly money: MoneyPreview;
}

const reset =
  '`temporal workflow reset -w ID --type FirstWorkflowTask --reapply-exclude All --reason "…"` continues the task from its record.';

export const advice: Readonly<Record<AttentionReason, string>> = {
  submit_ambiguous:
    'The submission may have reached the upstream, and the job may be billed: it is never resubmitted automatically. ' +
    'Look for it in the upstream’s console, then use `adopt` (with its upstream id), `resubmit`, `complete` or `fail`.',
  upstream_id_taken:
    'The upstream accepted the submission, and named a job that another task has: which job is this task’s is not known, and ' +
    'it may be billed. Look for it in the upstream’s console, by its marker or its time, then use `adopt` (with its upstream ' +
    'id), `resubmit`, `complete` or `fail`. Report it to the vendor, too.',
  poll_failed:
    'Polling stopped with an error that retrying will not fix. Fix the cause, then use `retry_now`, or `complete` or `fail`.',
  charge_review:
    'Check the usage that the upstream reported, then use `accept_charge`; or `complete` with the true facts; or `fail`, ' +
    'which charges nothing. What could not be computed or written is in the worker’s log: repair it, then use `retry_now`; ' +
    '`fail` ends a failed task also where its hold cannot be released, which `gateway ledger verify` then reports.',
  poll_failing:
    'Polling fails, and continues. Check the channel’s key, balance and address; `retry_now` polls immediately.',
  overdue:
    'The job takes five times as long as usual; polling continues. Look for it in the upstream’s console; `extend` gives ' +
    'it more time, `complete` and `fail` end the wait.',
  channel_gone:
    'The running configuration has no such channel or credential any more. Restore it (`enabled: false` keeps new tasks ' +
    'away) and reload; or use `complete` or `fail`. At its deadline the task fails and costs nothing.',
  no_worker:
    'No step of the task is taken until a worker serves it: `gateway nodes` lists the workers, their channels and the ' +
    'configurations that they could not load. Start a worker that runs the configuration with the channel, or correct the ' +
    'configuration and use `gateway config reload`: the task then continues.',
  workflow_failing: `The failure is on the task’s page in the Temporal UI, and in the worker’s log: report it. ${reset}`,
  workflow_overdue:
    'The failure is on the task’s page in the Temporal UI, and in the worker’s log: remove its cause. While the end is not ' +
    `written, \`fail\` releases the hold. ${reset}`,
  not_delivered:
    'The result could not be copied while its upstream had it. Callers may have a link that no longer works: `refund` gives ' +
    'back what they were charged for it.',
};

const suggested: Readonly<Record<AttentionReason, readonly OperatorActionName[]>> = {
  submit_ambiguous: ['adopt', 'resubmit', 'complete', 'fail'],
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
  return { ...rest, ...known, ...(isRefunded ? { isRefunded } : {}) };
}

/** The reconciler records a removed credential only after minutes. This shows it at once. */
function concernNow({ state, attempts, concern }: Task, { isGone }: Surroundings): Task['concern'] {
  const attempt = isUnfinished(state) ? attemptAt(state, attempts) : undefined;
  if (attempt === undefined) return concern;
  if (isGone(attempt)) return 'channel_gone';
  return concern === 'channel_gone' ? undefined : concern;
}

/** A line that can be copied. */
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

/** Pure: the same record says the same everywhere. */
export function situation(standing: Standing): Situation {
  const { id, state, attempt, deadlineAt } = standing;
  const attention = attentionOf(standing);
  const waitsFor = causeOf(standing, attention);
  const asked = attention ?? (waitsFor === 'no_worker' ? waitsFor : undefined);
  const job = hasJob(state) || isLost(state) ? attempt : undefined;
  return {
    name: state.at,
    what: whatOf(standing),
    since: sinceOf(standing, waitsFor),
    ...defined({ waitsFor, attention, advice: asked === undefined ? undefined : advice[asked] }),
    ...(isUnfinished(state)
      ? { until: standing.wait?.until ?? (state.at === 'pausing' ? state.until : deadlineAt) }
      : {}),
    ...(job === undefined ? {} : { where: { channel: job.channel, credential: job.credential } }),
    ...(job?.upstreamId === undefined ? {} : { upstreamId: job.upstreamId }),
    ...(isLost(state) && job !== undefined ? { marker: job.marker } : {}),
    ...defined({ charge: proposedCharge(state) }),
    actions: possibleNow(standing, asked).map((action) => ({
      name: action,
      command: commandLine(id, action),
      money: moneyOf(action, standing),
    })),
  };
}

/** Undefined: none is proposed. */
export function proposedCharge(state: TaskState): Micros | undefined {
  return state.at === 'review' && 'charge' in state ? BigInt(state.charge) : undefined;
}

function causeOf(
  { state, wait, unserved }: Standing,
  attention: AttentionReason | undefined,
): WaitCause | undefined {
  const inState = waitInState(state, []);
  if (inState === undefined) return undefined;
  return attention ?? (unserved === undefined ? undefined : 'no_worker') ?? wait?.cause ?? inState.cause;
}

/** Nobody takes the step of a task since its last worker was seen, or since it waits for it, whichever was later. */
function sinceOf({ stateSince, wait, unserved }: Standing, waitsFor: WaitCause | undefined): number {
  if (waitsFor === 'no_worker') return Math.max(stateSince, unserved?.since ?? 0);
  return wait?.cause === waitsFor ? (wait?.since ?? stateSince) : stateSince;
}

/** A sentence about the wait, which follows the sentence about the state and adds what the state does not know. */
function waitSentence({ wait }: Standing): string {
  if (wait === undefined || !isWaitReason(wait.cause)) return '';
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
    (name) => refusalOf(name, standing.state.at) === undefined && (isSensible[name]?.(standing) ?? true),
  );
}

/** What the table of acts does not know: whether there is something to take back, to send, to give back. */
const isSensible: Readonly<Partial<Record<OperatorActionName, (standing: Standing) => boolean>>> = {
  undo: ({ attempt }) => attempt?.adopted === true,
  accept_charge: ({ state }) => state.at === 'review' && unacceptable[state.why] === undefined,
  retry_now: ({ state }) => state.at !== 'review' || settledAgain(state).ok,
  redeliver: ({ hasCallback }) => hasCallback,
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
  cancel: ' It is to be cancelled.',
  expire: ' Its deadline has passed.',
  fail: ' An operator has failed it.',
};

const reviewSentences: Readonly<Record<Question['why'], string>> = {
  above_hold: 'The job succeeded, and its charge waits for a decision: it is far above the hold.',
  beyond_request:
    'The job succeeded, and its charge waits for a decision: the upstream reports more than the request and its model allow.',
  contradictory:
    'The job succeeded, and its charge waits for a decision: the upstream’s numbers contradict each other, or cannot be true.',
  unwritable: 'The job succeeded, and its charge waits for a decision: it is more than the ledger can hold.',
  unsettled: 'The job succeeded, and its charge could not be computed or written.',
  unreleased: 'The task fails, and the ledger contradicts that its hold is released.',
};

/** What was noted beside the state is what matters then; and a workflow hears of it before it knows of a new state. */
const concernSentences: Readonly<Partial<Record<AttentionReason, string>>> = {
  poll_failing: 'The polls of its job fail.',
  overdue: 'Its job takes five times as long as usual.',
  channel_gone: 'The running configuration has no such channel or credential any more.',
  workflow_failing: 'The steps of its workflow fail one after the other.',
  workflow_overdue: 'Its workflow should have ended it, and still runs.',
};

function whatOf(standing: Standing): string {
  const { unserved, state } = standing;
  const stop = stopOf(state);
  const noted = concernSentences[attentionOf(standing) ?? 'no_worker'];
  if (noted !== undefined) return `${noted}${stop === undefined ? '' : stopSentences[stop]}`;
  if (unserved === undefined) return whatOfState(standing);
  const { channel } = unserved;
  return `${channel === undefined ? 'No worker runs.' : `No running worker serves ${channel}.`} ${whatOfState(standing)}`;
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
      const why = state.replaces === true ? ' The job before it failed at its upstream.' : '';
      return `The task is submitted, or waits until it can be, at ${where}, and then for the end of its job.${waitSentence(standing)}${why}${ending}`;
    }
    case 'pausing':
      return `No channel of the plan accepts the task at the moment (round ${state.round}).${waitSentence(standing)}`;
    case 'searching':
    case 'asking':
      if (state.taken === true)
        return `${channel} accepted the submission, and named a job that another task has.${ending}`;
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
