import { attentionOf } from './attention.ts';
import { defined } from '../base/defined.ts';
import type { RouteCandidate } from './candidates.ts';
import type { Task } from './record.ts';
import { attemptAt, type StateName, type TaskState } from './state.ts';
import { briefMs, isSameWait, waitsAfter } from './wait.ts';
import type { NewWait, PastWait, Wait, WaitCause, Waits } from './wait.ts';

const causes: Readonly<Record<StateName, WaitCause | undefined>> = {
  creating: 'worker',
  queued: 'worker',
  sending: 'submission',
  pausing: 'upstream',
  searching: 'lookup',
  asking: 'submit_ambiguous',
  waiting: 'job',
  stopping: 'job',
  broken: 'poll_failed',
  review: 'charge_review',
  ending: 'settlement',
  ended: undefined,
};

/** Returns undefined if the task has ended. `said` is the reason that the channel gave. */
export function waitInState(
  state: TaskState,
  attempts: Task['attempts'],
  said?: NewWait,
): NewWait | undefined {
  const cause = causes[state.at];
  if (cause === undefined) return undefined;
  if (state.at === 'pausing') return { ...(said ?? { cause }), until: state.until };
  if (state.at === 'queued' && said !== undefined) return said;
  return { cause: attentionOf({ state }) ?? cause, ...placeOf(state, attempts) };
}

function placeOf(state: TaskState, attempts: Task['attempts']): Partial<RouteCandidate> {
  const next = state.at === 'queued' || state.at === 'creating' ? state.left[0] : attemptAt(state, attempts);
  return defined({ channel: next?.channel, credential: next?.credential });
}

/** If no wait is recorded, the wait began when the task entered its state. */
export function waitOf(task: Pick<Task, 'wait' | 'state' | 'stateSince' | 'attempts'>): Wait | undefined {
  if (task.wait !== undefined) return task.wait;
  const first = waitInState(task.state, task.attempts);
  return first === undefined ? undefined : { ...first, since: task.stateSince };
}

/** Returns undefined if the wait is already recorded or the task is no longer queued. */
export function withWait(task: Task, wait: NewWait, at: number): Waits | undefined {
  if (task.state.at !== 'queued' || (task.wait !== undefined && isKnown(task.wait, wait))) return undefined;
  const { createdAt, waited } = task;
  return waitsAfter({ wait: waitOf(task), waited }, wait, { at, createdAt });
}

function isKnown(known: Wait, wait: NewWait): boolean {
  const [before, after] = [known.until ?? 0, wait.until ?? 0];
  return isSameWait(known, wait) && known.ahead === wait.ahead && Math.abs(before - after) <= briefMs;
}

export function waitsOf(task: Task): readonly (Wait | PastWait)[] {
  const open = waitOf(task);
  return [...(task.waited ?? []), ...(open === undefined ? [] : [open])];
}
