import { operatorActions, type OperatorActionName } from './acts.ts';
import type { AttentionReason } from '../task/attention.ts';
import type { Task } from '../task/record.ts';
import type { Surroundings } from '../task/service.ts';
import { attemptAt } from '../task/state.ts';

export interface Knowledge {
  readonly isUnsearchable?: true;
  readonly isForgotten?: true;
}

/** Sets `isUnsearchable` only if an operator has been asked about the task's job. */
export function knowledgeOf(
  task: Task,
  around: Pick<Surroundings, 'isUnsearchable' | 'isForgotten'>,
): Knowledge {
  const { state, attempts, kind } = task;
  const attempt = state.at === 'asking' ? attemptAt(state, attempts) : undefined;
  const isUnsearchable = attempt !== undefined && around.isUnsearchable({ channel: attempt.channel, kind });
  return {
    ...(isUnsearchable ? { isUnsearchable } : {}),
    ...(around.isForgotten(task) ? { isForgotten: true } : {}),
  };
}

export function adviceOf(
  asked: AttentionReason | undefined,
  { isUnsearchable, isForgotten }: Knowledge,
  possible: readonly OperatorActionName[],
): string | undefined {
  if (asked === undefined) return undefined;
  const isInVain = asked === 'submit_ambiguous' && isUnsearchable === true;
  const sentences = isInVain ? [maybeBilled, ...unsearchable] : advice[asked];
  const isResubmittable = sentences.some((one) => typeof one !== 'string' && 'resubmit' in one.acts);
  return written(
    isForgotten === true && isResubmittable ? [...sentences, forgottenWords] : sentences,
    possible,
  );
}

export function generalAdvice(asked: AttentionReason): string {
  return written(advice[asked], operatorActions);
}

/** Explains why the gateway does not search for a lost job. Mentions only the actions in `possible`. */
export function unsearchableWords(possible: readonly OperatorActionName[]): string {
  return written(unsearchable, possible);
}

export const forgottenWords =
  'The task cannot be resubmitted, because the caller’s request is no longer kept (`retention.requests_days`).';

/** A sentence that lists actions is omitted if none of its actions is possible. */
type Sentence = string | ActSentence;

interface ActSentence {
  readonly before: string;
  /** The actions in the order in which they are mentioned. Each value is a remark in parentheses, or empty. */
  readonly acts: Readonly<Partial<Record<OperatorActionName, string>>>;
  readonly after: string;
}

function using(before: string, acts: ActSentence['acts'], after = '.'): ActSentence {
  return { before, acts, after };
}

function written(sentences: readonly Sentence[], possible: readonly OperatorActionName[]): string {
  return sentences
    .flatMap((sentence) => {
      if (typeof sentence === 'string') return sentence;
      const { before, acts, after } = sentence;
      const offered = Object.entries(acts)
        .filter(([name]) => possible.some((one) => one === name))
        .map(([name, remark]) => `\`${name}\`${remark === '' ? '' : ` (${remark})`}`);
      return offered.length === 0 ? [] : `${before}${before === '' ? '' : ' '}${orList(offered)}${after}`;
    })
    .join(' ');
}

function orList(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`;
}

const reset =
  '`temporal workflow reset -w ID --type FirstWorkflowTask --reapply-exclude All --reason "…"` continues the task from its record.';

const maybeBilled =
  'The submission may have reached the upstream, and the job may be billed, so the task is never resubmitted automatically.';

const forLostJob = { adopt: 'with its upstream id', resubmit: '', complete: '', fail: '' };

const unsearchable: readonly Sentence[] = [
  'The upstream cannot be searched for the job.',
  using('Look for it in the upstream’s console, then use', forLostJob),
];

const advice: Readonly<Record<AttentionReason, readonly Sentence[]>> = {
  submit_ambiguous: [
    maybeBilled,
    using('Use', { retry_now: '' }, ': it searches the upstream for the job’s marker, and adopts the job.'),
    using(
      'If it finds none, or the upstream cannot be searched, look for the job in the upstream’s console, then use',
      forLostJob,
    ),
  ],
  upstream_id_taken: [
    'The upstream accepted the submission, but returned the id of a job that belongs to another task. This task’s own job is ' +
      'unknown and may be billed.',
    using('Look for it in the upstream’s console, by its marker or its time, then use', forLostJob),
    'Also report this to the vendor.',
  ],
  poll_failed: [
    'Polling stopped with an error that retrying will not fix.',
    using('Fix the cause, then use', { retry_now: '', complete: '', fail: '' }),
  ],
  charge_review: [
    using('Check the usage that the upstream reported. Then use', {
      accept_charge: '',
      complete: 'with the correct facts',
      fail: 'which charges nothing',
    }),
    using(
      'If something could not be computed or written, find the cause in the worker’s log, fix it, then use',
      {
        retry_now: '',
      },
    ),
    using(
      '',
      { fail: '' },
      ' also ends a failed task whose hold the ledger does not release. `gateway ledger verify` then reports that hold.',
    ),
  ],
  poll_failing: [
    'Polls are failing, but polling continues. Check the channel’s key, balance and URL.',
    using('', { retry_now: '' }, ' polls immediately.'),
  ],
  overdue: [
    'The job has been running for five times as long as usual. Polling continues. Look for it in the upstream’s console.',
    using('', { extend: '' }, ' gives it more time.'),
    using('To end the wait, use', { complete: '', fail: '' }),
  ],
  channel_gone: [
    'The running configuration no longer contains the channel, the credential or the channel’s model. Restore it (`enabled: false` keeps new tasks ' +
      'away) and reload.',
    using('Otherwise, use', { complete: '', fail: '' }),
    'At its deadline the task fails and costs nothing.',
  ],
  no_worker: [
    'The task makes no progress until a worker serves its channel. `gateway nodes` lists the workers, their channels and the ' +
      'configurations that they could not load. Start a worker that runs the configuration with the channel, or correct the ' +
      'configuration and use `gateway config reload`: the task then continues.',
  ],
  workflow_failing: [
    'The failure is on the task’s page in the Temporal UI, and in the worker’s log: report it.',
    reset,
  ],
  workflow_overdue: [
    'The failure is on the task’s page in the Temporal UI, and in the worker’s log: fix the cause.',
    using('Until the end of the task is recorded,', { fail: '' }, ' releases the hold.'),
    reset,
  ],
  not_delivered: [
    'The result could not be copied while its upstream still had it. Callers may have a link that no longer works.',
    using('', { refund: '' }, ' returns what they were charged for it.'),
  ],
};
