import { namesOf } from '../base/names-of.ts';
import type { Task } from './record.ts';

const delayedInside = 'The task is delayed inside the service; its operator has been informed.';

/**
 * The values of `NeedsAttention` and of a task's `attention`, each with the `message` that GET returns for an
 * unfinished task that is waiting for an operator.
 */
export const attentionMessages = {
  /** The submission may have reached the upstream, and the gateway cannot find out. */
  submit_ambiguous:
    'It is not known whether the upstream accepted the task; the operator of this service has been asked to decide.',
  /** The upstream accepted the submission but returned the id of a job that already belongs to another task. */
  upstream_id_taken:
    'The upstream did not say which of its jobs belongs to the task; the operator of this service has been asked to decide.',
  poll_failed:
    'The upstream does not report on the task; the operator of this service has been asked to decide.',
  /** Polls keep failing, or the upstream rejects our key. Polling continues. */
  poll_failing: 'The upstream does not report on the task at the moment; polling continues.',
  /** The job has taken five times as long as usual. Polling continues. */
  overdue: 'Generation takes longer than usual.',
  /** The outcome needs a decision: its charge is not credible, or the ledger rejects it. */
  charge_review: 'Generation has ended; the operator of this service is checking the charge.',
  channel_gone: delayedInside,
  /** No worker has served the task's next step, or its channel, for minutes. */
  no_worker: delayedInside,
  /** The task's workflow steps fail repeatedly. The cause is the gateway or its deployment. */
  workflow_failing: delayedInside,
  /** The workflow still runs although the deadline has passed or the outcome is decided. Its steps may be failing. */
  workflow_overdue: delayedInside,
  /** The task succeeded, but its result could not be copied while it was available upstream. */
  not_delivered: 'The task succeeded; its result could not be stored by the service.',
} as const;
export const attentionReasons = namesOf(attentionMessages);
export type AttentionReason = keyof typeof attentionMessages;
/** Both an attention reason and the code of a lost attempt. */
export const upstreamIdTaken = 'upstream_id_taken';

/** The concerns that polls raise and withdraw. */
export const pollConcerns = ['poll_failing', 'overdue'] as const satisfies readonly AttentionReason[];
export type PollConcern = (typeof pollConcerns)[number];

/**
 * Reasons that are stored separately from the state, because they do not stop the task: it continues or has already
 * ended.
 */
export const concerns = [
  ...pollConcerns,
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

/** Returns why the task needs attention. The state's own reason takes precedence over a stored concern. */
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
