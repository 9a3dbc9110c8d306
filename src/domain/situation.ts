import { attentionOf } from './attention.ts';
import type { AttentionReason } from './attention.ts';
import { defined } from './defined.ts';
import { situationOf } from './operator-actions.ts';
import type { OperatorActionName, TaskSituation } from './operator-actions.ts';
import type { RouteCandidate } from './routing.ts';
import type { Concern, Task } from './task-record.ts';
import { attemptAt } from './task-state.ts';
import type { Stop, TaskState } from './task-state.ts';

/** What is to be known of a task to say where it stands: its record has it, and what the workflow knows of the record. */
export interface Standing {
  readonly id: string;
  readonly state: TaskState;
  readonly deadlineAt: number;
  readonly wanted?: Stop;
  readonly concern?: Concern;
  /** The attempt that the state is about, else the last one. */
  readonly attempt?: RouteCandidate & { readonly marker: string; readonly upstreamId?: string };
}

/**
 * Where a task stands, for everybody who looks: the Temporal UI, the operators' API, the command line. Times in Unix
 * milliseconds.
 */
export interface Situation {
  readonly name: TaskSituation;
  /** What it waits for, in one sentence. */
  readonly what: string;
  readonly attention?: AttentionReason;
  /** What a person should do. */
  readonly advice?: string;
  readonly until?: number;
  /** Where the job is, or may be. */
  readonly where?: RouteCandidate;
  readonly upstreamId?: string;
  /** What to look for at the upstream. */
  readonly marker?: string;
  /** A charge that is proposed, in micro-units. */
  readonly charge?: string;
  readonly actions: readonly SuggestedAction[];
}

interface SuggestedAction {
  readonly name: OperatorActionName;
  /** A line that can be copied. */
  readonly command: string;
}

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
    'The job succeeded, and its charge is far above the hold (the model’s `hold.review_above`, 3 times unless it says ' +
    'otherwise), or more than the ledger can hold. Check the usage that the upstream reported, then use `accept_charge`; ' +
    'or `complete` with the true facts; or `fail`, which charges nothing.',
  poll_failing:
    'Polling fails, and continues. Check the channel’s key, balance and address; `retry_now` polls immediately.',
  overdue:
    'The job takes five times as long as usual; polling continues. Look for it in the upstream’s console; `extend` gives ' +
    'it more time, `complete` and `fail` end the wait.',
  channel_gone:
    'The running configuration has no such channel or credential any more. Restore it (`enabled: false` keeps new tasks ' +
    'away) and reload; or use `complete` or `fail`. At its deadline the task fails and costs nothing.',
  workflow_failing: 'The steps of its workflow fail one after the other: see the worker’s log.',
  workflow_overdue: 'The deadline has passed and its workflow still runs: see the worker’s log.',
  not_delivered:
    'The result could not be copied while its upstream had it. Callers may have a link that no longer works: `refund` gives ' +
    'back what they were charged for it.',
};

const suggested: Readonly<Record<AttentionReason, readonly OperatorActionName[]>> = {
  submit_ambiguous: ['adopt', 'resubmit', 'complete', 'fail'],
  upstream_id_taken: ['adopt', 'resubmit', 'complete', 'fail'],
  poll_failed: ['retry_now', 'complete', 'fail'],
  charge_review: ['accept_charge', 'complete', 'fail'],
  poll_failing: ['retry_now', 'complete', 'fail'],
  overdue: ['retry_now', 'extend', 'complete', 'fail'],
  channel_gone: ['complete', 'fail'],
  workflow_failing: [],
  workflow_overdue: [],
  not_delivered: ['redeliver', 'refund'],
};

const parameters: Readonly<Partial<Record<OperatorActionName, string>>> = {
  adopt: ' --upstream-id ID',
  complete: ' --result-url URL',
  extend: ' --seconds 3600',
};

export function standingOf({ id, state, deadlineAt, attempts, wanted, concern }: Task): Standing {
  const attempt = attemptAt(state, attempts) ?? attempts.at(-1);
  return {
    id,
    state,
    deadlineAt,
    ...defined({
      wanted,
      concern,
      attempt:
        attempt === undefined ? undefined : { ...attempt, ...defined({ upstreamId: attempt.operation?.id }) },
    }),
  };
}

/** A line that can be copied. */
export function commandLine(task: string, action: OperatorActionName): string {
  return `gateway tasks action ${task} ${action}${parameters[action] ?? ''} --reason "…"`;
}

/** Pure: the same record says the same everywhere. */
export function situation(standing: Standing): Situation {
  const { id, state, attempt, deadlineAt } = standing;
  const attention = attentionOf(standing);
  const names = attention === undefined ? waitingActions[situationOf(standing)] : suggested[attention];
  const job = attempt === undefined || !('n' in state) ? undefined : attempt;
  return {
    name: situationOf(standing),
    what: whatOf(standing),
    ...(attention === undefined ? {} : { attention, advice: advice[attention] }),
    ...(state.at === 'pausing' ? { until: state.until } : state.at === 'ended' ? {} : { until: deadlineAt }),
    ...(job === undefined ? {} : { where: { channel: job.channel, credential: job.credential } }),
    ...(job?.upstreamId === undefined ? {} : { upstreamId: job.upstreamId }),
    ...(state.at === 'lost' && job !== undefined ? { marker: job.marker } : {}),
    ...(state.at === 'review' ? { charge: state.charge } : {}),
    actions: names.map((name) => ({ name, command: commandLine(id, name) })),
  };
}

const waitingActions: Readonly<Record<TaskSituation, readonly OperatorActionName[]>> = {
  submitting: ['retry_now'],
  lost: [],
  watching: ['retry_now'],
  broken: [],
  review: [],
  ending: [],
  ended: [],
};

const wantedSentences: Readonly<Record<Stop, string>> = {
  cancel: ' It is to be cancelled.',
  expire: ' Its deadline has passed.',
  fail: ' An operator has failed it.',
};

function whatOf({ state, attempt, wanted }: Standing): string {
  const ending = wanted === undefined ? '' : wantedSentences[wanted];
  const channel = attempt?.channel ?? '';
  switch (state.at) {
    case 'submitting': {
      const where = state.left.map((candidate) => candidate.channel).join(', ');
      const why = state.replaces === true ? ' The job before it failed at its upstream.' : '';
      return `The task is submitted, or waits until it can be, at ${where}, and then for the end of its job.${why}${ending}`;
    }
    case 'pausing':
      return `No channel of the plan accepts the task at the moment (round ${state.round}).`;
    case 'lost':
      if (state.taken === true)
        return `${channel} accepted the submission, and named a job that another task has.${ending}`;
      return state.asked
        ? `The response of ${channel} to the submission was lost (${state.code}).${ending}`
        : `The response of ${channel} was lost; looking for the job there.${ending}`;
    case 'waiting':
      return `Waiting for ${channel}.${ending}`;
    case 'broken':
      return `Polling ${channel} has stopped (${state.code}).${ending}`;
    case 'review':
      return 'The job succeeded, and its charge waits for a decision.';
    case 'ending':
      return `The task ends: it ${state.ending.kind === 'succeeded' ? 'succeeds' : 'fails'}.`;
    case 'ended':
    case 'given_up':
      return 'The task has ended.';
    default:
      return state satisfies never;
  }
}
