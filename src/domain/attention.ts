/** Why a task waits for a person: the values of `NeedsAttention` and of a task's `attention`. */
export const attentionReasons = [
  /** The submission may have reached the upstream, and the gateway cannot find out. */
  'submit_ambiguous',
  /** Polling stopped with an error that retrying will not fix. */
  'poll_failed',
  /** The job succeeded, and its charge is far above the hold. */
  'charge_review',
  /** The workflow still runs although the deadline has passed; it may fail at each of its steps. */
  'workflow_overdue',
] as const;
export type AttentionReason = (typeof attentionReasons)[number];
