import type { AttentionReason } from './attention.ts';

/** Facts from outside the task's record, as far as they are known. */
export interface Knowledge {
  readonly isUnsearchable?: true;
  readonly isForgotten?: true;
}

/** Never recommends an act that cannot work. */
export function adviceOf(
  asked: AttentionReason | undefined,
  { isUnsearchable, isForgotten }: Knowledge,
): string | undefined {
  if (asked === undefined) return undefined;
  const isInVain = asked === 'submit_ambiguous' && isUnsearchable === true;
  const text = isInVain ? `${maybeBilled} ${unsearchableWords}` : advice[asked];
  if (isForgotten === undefined || !text.includes(resubmitWord)) return text;
  return `${text.replace(resubmitWord, '')} ${forgottenWords}`;
}

const reset =
  '`temporal workflow reset -w ID --type FirstWorkflowTask --reapply-exclude All --reason "…"` continues the task from its record.';

const maybeBilled =
  'The submission may have reached the upstream, and the job may be billed: it is never resubmitted automatically.';

export const unsearchableWords =
  'The upstream cannot be searched for the job. Look for it in the upstream’s console, then use `adopt` (with its ' +
  'upstream id), `resubmit`, `complete` or `fail`.';

/** Exactly as in the lists of acts below, so that it can be removed from them. */
const resubmitWord = '`resubmit`, ';

export const forgottenWords =
  'The task cannot be resubmitted, because the caller’s request is no longer kept (`retention.requests_days`).';

export const advice: Readonly<Record<AttentionReason, string>> = {
  submit_ambiguous:
    `${maybeBilled} Use \`retry_now\`: it searches the upstream for the job’s marker, and adopts the job. If it finds none, ` +
    'or the upstream cannot be searched, look for the job in the upstream’s console, then use `adopt` (with its upstream ' +
    'id), `resubmit`, `complete` or `fail`.',
  upstream_id_taken:
    'The upstream accepted the submission, but returned the id of a job that belongs to another task. This task’s own job is ' +
    'unknown and may be billed. Look for it in the upstream’s console, by its marker or its time, then use `adopt` (with its ' +
    'upstream id), `resubmit`, `complete` or `fail`. Also report this to the vendor.',
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
    'The running configuration no longer contains the channel or credential. Restore it (`enabled: false` keeps new tasks ' +
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
