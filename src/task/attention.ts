import { namesOf } from '../base/names-of.ts';
import type { Task } from './record.ts';

const delayedInside =
  'The task is delayed inside the service. The operator of this service has been informed.';

/** While a task waits for an operator, GET returns the `message` below as the task's message. */
export const attentionMessages = {
  /** The submission may have reached the upstream, and there is no way to ask the upstream. */
  submit_ambiguous:
    'It is not known whether the upstream accepted the task. The operator of this service has been asked to decide.',
  /** The upstream returned the id of a job that already belongs to another task. */
  upstream_id_taken:
    'The upstream did not say which of its jobs belongs to the task. The operator of this service has been asked to decide.',
  poll_failed:
    'The upstream does not report on the task. The operator of this service has been asked to decide.',
  /** Polls keep failing, for example because the upstream rejects our key. */
  poll_failing: 'The upstream is not reporting on the task at the moment. Polling continues.',
  /** The job has taken five times as long as usual. */
  overdue: 'Generation is taking longer than usual.',
  /** The charge is not plausible, or the ledger rejects the outcome. */
  charge_review: 'Generation has ended. The operator of this service is checking the charge.',
  channel_gone: delayedInside,
  /** For minutes, no worker has served the channel or the task's next step. */
  no_worker: delayedInside,
  /** The task's workflow keeps failing, because of a fault in the gateway or its deployment. */
  workflow_failing: delayedInside,
  /** The workflow still runs although the deadline has passed or the outcome is decided. It may be failing. */
  workflow_overdue: delayedInside,
  /** The task succeeded, but the upstream deleted its result before it could be copied. */
  not_delivered: 'The task succeeded, but the service could not store its result.',
} as const;
export const attentionReasons = namesOf(attentionMessages);
export type AttentionReason = keyof typeof attentionMessages;
/** Also used as the code of an attempt that is recorded as lost for this reason. */
export const upstreamIdTaken = 'upstream_id_taken';

/** The concerns that polls can raise and clear. */
export const pollConcerns = ['poll_failing', 'overdue'] as const satisfies readonly AttentionReason[];
export type PollConcern = (typeof pollConcerns)[number];

/** Reasons for attention that do not stop the task, so they are stored separately from its state. */
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

/** The state's own reason takes precedence over a stored concern. */
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
