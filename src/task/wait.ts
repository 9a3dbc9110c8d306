import { attentionMessages } from './attention.ts';
import type { AttentionReason } from './attention.ts';
import type { RouteCandidate } from './candidates.ts';

/** What keeps a task from its next step although nobody has to decide anything; attention.ts has the rest. */
export const waitReasons = [
  /** The channel has as many tasks as it may have at a time. */
  'slot',
  /** The channel's circuit is open. */
  'circuit',
  /** The channel's submissions per second are used. */
  'rate',
  /** Another task tries the channel whose circuit was open. */
  'turn',
  /** The upstream named the time before which it is not to be asked. */
  'backoff',
  /** The upstream refused the submission, or could not be reached. */
  'upstream',
  /** The upstream is given the request's files. */
  'files',
  'lookup',
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** `worker`: no worker has taken the next step. `earlier`: several waits that are kept as one. */
export const ownCauses = [...waitReasons, 'worker', 'submission', 'job', 'settlement', 'earlier'] as const;
export type WaitCause = (typeof ownCauses)[number] | AttentionReason;

/** A wait as it begins. Times in Unix milliseconds. */
export interface NewWait extends Partial<RouteCandidate> {
  readonly cause: WaitCause;
  /** What the upstream or the circuit calls it: a code, never an upstream's words. */
  readonly code?: string;
  /** How many tasks were ahead of it when it began. */
  readonly ahead?: number;
  /** The next try begins then at the earliest. */
  readonly until?: number;
}

export interface Wait extends NewWait {
  readonly since: number;
}

export interface PastWait extends Omit<Wait, 'until'> {
  readonly ended: number;
  /** How many equal waits it stands for, one after the other. Undefined: one. */
  readonly times?: number;
}

/** The wait that has not ended, and those that have, oldest first. */
export interface Waits {
  readonly wait?: Wait | undefined;
  readonly waited?: readonly PastWait[] | undefined;
}

interface Ending {
  readonly at: number;
  readonly createdAt: number;
}

/** The longest time between two spans: what is shorter has none. */
export const briefMs = 2_000;
export const pastWaitsMax = 50;

/** Ends one wait and begins the next one. `next` undefined: the task has ended. Empty: nothing changes. */
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

/** The oldest spans become one, so that a record stays small and no time is left without a span. */
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

/** What callers read of a wait. Operators read the same after the channel and the code. */
export function waitWords({ cause, ahead, ...more }: Wait | PastWait): string {
  const times = 'times' in more && more.times !== undefined ? ` ${more.times} times in a row.` : '';
  return `${waitMessages[cause]}${aheadWords(ahead)}${times}`;
}

function aheadWords(ahead = 0): string {
  if (ahead === 0) return '';
  return ahead === 1 ? ' One task was ahead of it.' : ` ${ahead} tasks were ahead of it.`;
}

/** With since when and until when: for a text that has no other place for them. */
export function openWaitWords(wait: Wait): string {
  const next = wait.until === undefined ? '' : ` The next try begins after ${timeOf(wait.until)}.`;
  return `${waitWords(wait)} Since ${timeOf(wait.since)}.${next}`;
}

/** Where the task waits and what the upstream's answer was: for operators only. */
export function waitPlace({ channel, credential, code }: NewWait): string {
  const place = [channel, credential].filter((part) => part !== undefined).join('/');
  const why = code === undefined ? '' : `(${code})`;
  return [place, why].filter((part) => part !== '').join(' ');
}

function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

const reasons: ReadonlySet<string> = new Set(waitReasons);

/** Callers read about these in `message`. The status of the task covers all other causes. */
export function isWaitReason(cause: string): cause is WaitReason {
  return reasons.has(cause);
}

/**
 * Why nothing happens to a task although it could: somebody has paused it in Temporal, or nobody has taken its next step
 * for longer than a worker needs.
 */
export type Stall = 'paused' | 'no_worker';
