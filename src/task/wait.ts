import { attentionMessages, type AttentionReason } from './attention.ts';
import { namesOf } from '../base/names-of.ts';
import type { RouteCandidate } from './candidates.ts';

/** The reasons for waiting that need no decision from an operator. See attention.ts for those that do. */
const reasonMessages = {
  slot: 'The task is queued: the limit on concurrent tasks has been reached.',
  circuit: 'The upstream has failed. The task will be submitted to it again after a pause.',
  rate: 'The task is queued: tasks are submitted at a limited rate.',
  turn: 'The upstream has failed, and another task is testing whether it has recovered.',
  backoff: 'The upstream accepts no tasks until a time that it has specified.',
  upstream: 'No upstream accepts the task at the moment. The gateway keeps trying.',
  files: 'The request’s files are being read or sent to the upstream.',
  /** Results from this upstream must be stored, but the storage does not accept files. */
  storage:
    'The result storage is not accepting files at the moment. The task will be submitted as soon as it does.',
  lookup: 'The response to the submission was lost. The upstream is being asked whether it has the task.',
} as const;
export const waitReasons = namesOf(reasonMessages);
export type WaitReason = keyof typeof reasonMessages;

const ownMessages = {
  ...reasonMessages,
  worker: 'The task is waiting to be submitted. No worker has taken it yet.',
  submission: 'The task is being submitted.',
  job: 'The upstream has the job.',
  settlement: 'The end of the task is being recorded.',
  earlier: 'Earlier waits, combined into one.',
} as const;
export type WaitCause = keyof typeof ownMessages | AttentionReason;
export const waitMessages: Readonly<Record<WaitCause, string>> = { ...attentionMessages, ...ownMessages };
export const waitCauses = namesOf(waitMessages);

/** Times are in Unix milliseconds. */
export interface NewWait extends Partial<RouteCandidate> {
  readonly cause: WaitCause;
  /** From the upstream or the circuit. Must not contain free text from an upstream. */
  readonly code?: string;
  readonly ahead?: number;
  readonly until?: number;
}

export interface Wait extends NewWait {
  readonly since: number;
}

export interface PastWait extends Omit<Wait, 'until'> {
  readonly ended: number;
  /** The number of consecutive identical waits that this entry stands for. Undefined if it is only one. */
  readonly times?: number;
}

export interface Waits {
  readonly wait?: Wait | undefined;
  readonly waited?: readonly PastWait[] | undefined;
}

interface Ending {
  readonly at: number;
  readonly createdAt: number;
}

/** Shorter waits are not recorded, so the record may have gaps of this length. */
export const briefMs = 2_000;
export const pastWaitsMax = 50;

/** If `next` is undefined, the task has ended. Returns an empty object if nothing changes. */
export function waitsAfter({ wait, waited = [] }: Waits, next: NewWait | undefined, ending: Ending): Waits {
  if (wait !== undefined && next !== undefined && isSameWait(wait, next)) {
    const isUnchanged = next.until === wait.until && next.ahead === wait.ahead;
    return isUnchanged ? {} : { wait: { ...next, since: wait.since } };
  }
  const past = wait === undefined ? waited : withPast(waited, wait, ending);
  const since = Math.max(ending.at, wait?.since ?? ending.at);
  return {
    wait: next === undefined ? undefined : { ...next, since },
    ...(past === waited ? {} : { waited: past }),
  };
}

function withPast(
  waited: readonly PastWait[],
  { until: _until, ...wait }: Wait,
  { at, createdAt }: Ending,
): readonly PastWait[] {
  const ended = Math.max(at, wait.since);
  const last = waited.at(-1);
  if (ended - (last?.ended ?? createdAt) <= briefMs) return waited;
  if (last === undefined || !isSameWait(last, wait)) return bounded([...waited, { ...wait, ended }]);
  return [...waited.slice(0, -1), { ...last, ended, times: timesOf(last) + 1 }];
}

/** Merges the oldest waits, so that the record stays small but still covers the whole time. */
function bounded(waited: readonly PastWait[]): readonly PastWait[] {
  const [first, second, ...others] = waited;
  if (waited.length <= pastWaitsMax || first === undefined || second === undefined) return waited;
  const times = timesOf(first) + timesOf(second);
  return [{ cause: 'earlier', since: first.since, ended: second.ended, times }, ...others];
}

function timesOf({ times = 1 }: PastWait): number {
  return times;
}

export function isSameWait(a: NewWait, b: NewWait): boolean {
  return a.cause === b.cause && a.channel === b.channel && a.credential === b.credential && a.code === b.code;
}

/** Callers may read this text. For operators, the result of `waitPlace` precedes it. */
export function waitWords({ cause, ahead, ...more }: Wait | PastWait): string {
  const times = 'times' in more && more.times !== undefined ? ` ${more.times} times in a row.` : '';
  return `${waitMessages[cause]}${aheadWords(ahead)}${times}`;
}

/** Tasks ahead are not counted beyond this number. */
export const aheadMax = 1_000;

function aheadWords(ahead = 0): string {
  if (ahead === 0) return '';
  if (ahead >= aheadMax) return ` At least ${aheadMax} tasks were ahead of it.`;
  return ahead === 1 ? ' One task was ahead of it.' : ` ${ahead} tasks were ahead of it.`;
}

export function openWaitWords(wait: Wait): string {
  const next = wait.until === undefined ? '' : ` The next attempt begins after ${timeOf(wait.until)}.`;
  return `${waitWords(wait)} Since ${timeOf(wait.since)}.${next}`;
}

/** Only operators may see this. */
export function waitPlace({ channel, credential, code }: NewWait): string {
  const place = [channel, credential].filter((part) => part !== undefined).join('/');
  const why = code === undefined ? '' : `(${code})`;
  return [place, why].filter((part) => part !== '').join(' ');
}

function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

export function isWaitReason(cause: string): cause is WaitReason {
  return Object.hasOwn(reasonMessages, cause);
}

/** Returns false if the task's status already expresses the cause. */
export function isNamed(cause: WaitCause): boolean {
  return cause === 'worker' || isWaitReason(cause);
}

/**
 * `paused` means that the task is paused in Temporal. `no_worker` means that no worker has taken its next step in the
 * usual time.
 */
export type Stall = 'paused' | 'no_worker';
