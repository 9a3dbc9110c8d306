import type { Attempt } from './attempt.ts';
import type { Task } from './record.ts';
import { stateWords, type StateName, type StateOf } from './state.ts';

/** A value of undefined removes the field from the record. */
export type Changes = { readonly [Name in keyof Task]?: Task[Name] | undefined };

/**
 * - `abandoned`: the task's creation was abandoned.
 * - `over`: the task has ended or is about to.
 * - `not_now`: the event does not fit the state. `message` says what would.
 * - `decided`: another process has already decided about this attempt or job.
 */
export type RefusalCode = 'abandoned' | 'over' | 'not_now' | 'decided';

export type In<Name extends StateName> = Task & { readonly state: StateOf<Name> };

export type Next =
  | { readonly ok: true; readonly changes: Changes }
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string };

/** The event is already recorded or changes nothing. */
export const unchanged: Next = { ok: true, changes: {} };

export function change(changes: Changes): Next {
  return { ok: true, changes };
}

export function refuse(code: RefusalCode, message: string): Next {
  return { ok: false, code, message };
}

export function notNow({ state }: Task, what: string): Next {
  const code = state.at === 'ended' || state.at === 'ending' ? 'over' : 'not_now';
  return refuse(code, `\`${what}\` is not possible while ${stateWords[state.at]}.`);
}

export function withAttempt(task: Task, n: number, changes: Partial<Attempt>): readonly Attempt[] {
  return task.attempts.map((attempt) => (attempt.n === n ? { ...attempt, ...changes } : attempt));
}

/** Closes lost attempts. If one stayed open, a late response could give the task a job that nothing waits for. */
export function withoutLost({ attempts }: Pick<Task, 'attempts'>): readonly Attempt[] {
  return attempts.map((attempt) =>
    attempt.state === 'lost' || attempt.state === 'sending' ? { ...attempt, state: 'abandoned' } : attempt,
  );
}
