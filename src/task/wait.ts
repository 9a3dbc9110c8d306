import { attentionMessages } from './attention.ts';
import type { AttentionReason } from './attention.ts';
import type { RouteCandidate } from './candidates.ts';

/** The reasons why a task waits that need no decision by a person. attention.ts has those that do. */
export const waitReasons = [
  /** The channel's limit of concurrent tasks is reached. */
  'slot',
  /** The channel's circuit is open. */
  'circuit',
  /** The channel's limit of submissions per second is reached. */
  'rate',
  /** Another task is probing the channel after its circuit was open. */
  'turn',
  /** The upstream named a time before which it accepts no request. */
  'backoff',
  /** The upstream refused the submission, or could not be reached. */
  'upstream',
  /** The request's files are being uploaded to the upstream. */
  'files',
  'lookup',
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** `worker`: no worker has taken the next step. `earlier`: several old waits merged into one. */
export const ownCauses = [...waitReasons, 'worker', 'submission', 'job', 'settlement', 'earlier'] as const;
export type WaitCause = (typeof ownCauses)[number] | AttentionReason;

/** A wait at its beginning. Times are in Unix milliseconds. */
export interface NewWait extends Partial<RouteCandidate> {
  readonly cause: WaitCause;
  /** The code of the upstream or the circuit. It never contains an upstream's words. */
  readonly code?: string;
  /** The number of tasks that were ahead when the task last asked for its turn. */
  readonly ahead?: number;
  /** The earliest time of the next try. */
  readonly until?: number;
}

export interface Wait extends NewWait {
  readonly since: number;
}

export interface PastWait extends Omit<Wait, 'until'> {
  readonly ended: number;
  /** The number of equal consecutive waits that it stands for. Undefined: one. */
  readonly times?: number;
}

/** The present wait, and the past waits from the oldest on. */
export interface Waits {
  readonly wait?: Wait | undefined;
  readonly waited?: readonly PastWait[] | undefined;
}

interface Ending {
  readonly at: number;
  readonly createdAt: number;
}

/** The longest gap between two waits. A wait that ends within this time is not recorded. */
export const briefMs = 2_000;
export const pastWaitsMax = 50;

/** Ends one wait and begins the next. Without `next`, the task has ended. Returns {} if nothing changes. */
export function waitsAfter({ wait, waited = [] }: Waits, next: NewWait | undefined, ending: Ending): Waits {
  if (wait !== undefined && next !== undefined && isSameWait(wait, next)) {
    return next.until === wait.until ? {} : { wait: { ...next, since: wait.since } };
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

/** Merges the oldest waits, so that the record stays small and still covers all of the time. */
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

export const waitMessages: Readonly<Record<WaitCause, string>> = {
  ...attentionMessages,
  slot: 'The task waits for its turn: the limit of concurrent tasks has been reached.',
  circuit: 'The upstream has failed and is left alone for a while; then the task is offered to it again.',
  rate: 'The task waits for its turn: tasks are submitted at a limited rate.',
  turn: 'The upstream has failed, and another task is trying it.',
  backoff: 'The upstream accepts no task before a time that it has named.',
  upstream: 'No upstream accepts the task at the moment; it is offered again until one does.',
  files: 'The upstream is being given the files of the request.',
  lookup: 'The response to the submission was lost; the upstream is being asked whether it has the task.',
  worker: 'No worker has taken the next step yet.',
  submission: 'The task is being submitted.',
  job: 'The upstream has the job.',
  settlement: 'The end of the task is being written.',
  earlier: 'Earlier waits, which are kept as one.',
};

/** The words about a wait that callers read. Operators read the same words after the channel and the code. */
export function waitWords({ cause, ahead, ...more }: Wait | PastWait): string {
  const times = 'times' in more && more.times !== undefined ? ` ${more.times} times in a row.` : '';
  return `${waitMessages[cause]}${aheadWords(ahead)}${times}`;
}

function aheadWords(ahead = 0): string {
  if (ahead === 0) return '';
  return ahead === 1 ? ' One task was ahead of it.' : ` ${ahead} tasks were ahead of it.`;
}

/** Adds the times of the wait, for texts that do not show them elsewhere. */
export function openWaitWords(wait: Wait): string {
  const next = wait.until === undefined ? '' : ` The next try begins after ${timeOf(wait.until)}.`;
  return `${waitWords(wait)} Since ${timeOf(wait.since)}.${next}`;
}

/** The channel of the wait and the code of the upstream's answer, for operators only. */
export function waitPlace({ channel, credential, code }: NewWait): string {
  const place = [channel, credential].filter((part) => part !== undefined).join('/');
  const why = code === undefined ? '' : `(${code})`;
  return [place, why].filter((part) => part !== '').join(' ');
}

function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

const reasons: ReadonlySet<string> = new Set(waitReasons);

/** Whether `message` names this cause. The task's status covers all other causes. */
export function isWaitReason(cause: string): cause is WaitReason {
  return reasons.has(cause);
}

/**
 * Why a task that could continue does not: it was paused in Temporal, or no worker has taken its next step within the
 * time that a worker needs.
 */
export type Stall = 'paused' | 'no_worker';
