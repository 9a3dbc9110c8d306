import type { Task } from './record.ts';

/** Why a task waits for a person: the values of `NeedsAttention` and of a task's `attention`. */
export const attentionReasons = [
  /** The submission may have reached the upstream, and the gateway cannot find out. */
  'submit_ambiguous',
  /** The upstream accepted the submission, and named a job that another task has. */
  'upstream_id_taken',
  /** Polling stopped with an error that retrying will not fix. */
  'poll_failed',
  /** Polls fail one after the other, or the upstream refuses our key; polling continues. */
  'poll_failing',
  /** The job takes five times as long as usual; polling continues. */
  'overdue',
  /** The end cannot be written unasked: its charge is not credible, or the ledger refuses it. */
  'charge_review',
  /** The configuration has the channel, or the credential, of the task no more. */
  'channel_gone',
  /** No running worker takes its next step: none serves its channel, and none has for minutes. */
  'no_worker',
  /** The steps of its workflow fail one after the other: the gateway is at fault, or the way it is deployed. */
  'workflow_failing',
  /** The workflow still runs although the deadline has passed, or the end is decided; it may fail at each of its steps. */
  'workflow_overdue',
  /** The task succeeded, and its result could not be copied while the upstream had it. */
  'not_delivered',
] as const;
/** The code of an attempt, too. */
export const upstreamIdTaken = 'upstream_id_taken';
export type AttentionReason = (typeof attentionReasons)[number];

/** Those that are noted beside the state: the task continues, or has ended. */
export const concerns = [
  'poll_failing',
  'overdue',
  'channel_gone',
  'no_worker',
  'workflow_failing',
  'workflow_overdue',
  'not_delivered',
] as const satisfies readonly AttentionReason[];
export type Concern = (typeof concerns)[number];

interface Asking extends Pick<Task, 'state'> {
  readonly concern?: Concern | undefined;
}

/** What a state asks a person for, else what was noted beside it. */
export function attentionOf({ state, concern }: Asking): AttentionReason | undefined {
  switch (state.at) {
    case 'asking':
      return state.taken === true ? upstreamIdTaken : 'submit_ambiguous';
    case 'broken':
      return 'poll_failed';
    case 'review':
      return 'charge_review';
    case 'creating':
    case 'queued':
    case 'sending':
    case 'pausing':
    case 'searching':
    case 'waiting':
    case 'stopping':
    case 'ending':
    case 'ended':
      return concern;
    default:
      return state satisfies never;
  }
}

const delayedInside = 'The task is delayed inside the service; its operator has been informed.';

/** What GET says in `message` of an unfinished task that waits for a person. */
export const attentionMessages: Readonly<Record<AttentionReason, string>> = {
  submit_ambiguous:
    'It is not known whether the upstream accepted the task; the operator of this service has been asked to decide.',
  upstream_id_taken:
    'The upstream did not say which of its jobs is the task’s; the operator of this service has been asked to decide.',
  poll_failed:
    'The upstream does not report on the task; the operator of this service has been asked to decide.',
  poll_failing: 'The upstream does not report on the task at the moment; polling continues.',
  overdue: 'Generation takes longer than usual.',
  charge_review: 'Generation has ended; the operator of this service is checking the charge.',
  channel_gone: delayedInside,
  no_worker: delayedInside,
  workflow_failing: delayedInside,
  workflow_overdue: delayedInside,
  not_delivered: 'The task succeeded; its result could not be stored by the service.',
};
