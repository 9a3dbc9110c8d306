import { words } from '../shared/format.js';

/**
 * The compiler reports names that are missing here or that the API no longer has.
 *
 * @typedef {import('./types.d.ts').Task} Task
 * @typedef {NonNullable<Task['situation']['attention']>} AttentionReason
 * @typedef {Exclude<NonNullable<Task['situation']['waits_for']>, AttentionReason>} Wait
 * @typedef {NonNullable<NonNullable<Task['error']>['class']>} FailureClass
 */

/** @type {Record<AttentionReason, string>} */
export const reasonNames = {
  submit_ambiguous: 'submission lost',
  upstream_id_taken: 'job of another task',
  poll_failed: 'polling stopped',
  poll_failing: 'polls fail',
  overdue: 'takes too long',
  charge_review: 'charge to check',
  channel_gone: 'channel removed',
  workflow_failing: 'workflow fails',
  workflow_overdue: 'past its deadline',
  not_delivered: 'result not copied',
  no_worker: 'no worker',
};

/** @type {Record<FailureClass, string>} */
export const classNames = {
  moderation_input: 'request was moderated',
  moderation_output: 'result was moderated',
  invalid_input: 'invalid request',
  quota: 'our upstream account',
  capacity: 'upstream overloaded',
  expired: 'deadline passed',
  cancelled: 'cancelled',
  internal: 'upstream or gateway failed',
};

/** Used in sentences after “waits for”. @type {Record<Wait, string>} */
const waitNames = {
  slot: 'a free slot',
  upstream: 'an upstream that accepts it',
  circuit: 'its upstream to recover',
  rate: 'its turn to be submitted',
  turn: 'another task to test the upstream',
  backoff: 'the time that its upstream specified',
  files: 'its files to be uploaded to its upstream',
  storage: 'storage space for its result',
  lookup: 'its lost job to be found',
  worker: 'a worker',
  submission: 'its submission',
  job: 'its upstream’s job',
  settlement: 'its settlement',
  earlier: 'several things',
};

/** Also used after “waits for”, for tasks that are waiting for nothing more specific. @type {Record<string, string>} */
const stateNames = {
  creating: waitNames.worker,
  queued: waitNames.worker,
  sending: waitNames.submission,
  pausing: waitNames.upstream,
  searching: waitNames.lookup,
  asking: 'an operator',
  waiting: waitNames.job,
  stopping: waitNames.job,
  broken: 'an operator',
  review: 'an operator',
  ending: waitNames.settlement,
};

/** @type {Record<string, string>} */
const all = { ...stateNames, ...waitNames, ...classNames, ...reasonNames };

/** @param {string} name */
export function named(name) {
  return Object.hasOwn(all, name) ? (all[name] ?? '') : words(name);
}
