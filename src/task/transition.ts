import type { Attempt } from './attempt.ts';
import type { Task } from './record.ts';
import { stateWords } from './state.ts';
import type { StateName, StateOf } from './state.ts';

/** What one event makes of a task: the words in which every transition (next.ts and its parts) answers. */

/** What an event changes in the record; undefined: the field is removed. */
export type Changes = { readonly [Name in keyof Task]?: Task[Name] | undefined };

/**
 * - `abandoned`: the creation was abandoned. `over`: the task has ended, or its end is decided.
 * - `not_now`: the event does not belong to this state; `message` says what does.
 * - `decided`: about this attempt, or this job, somebody else has written before.
 */
export type RefusalCode = 'abandoned' | 'over' | 'not_now' | 'decided';

/** The record of a task in one of these states. */
export type In<Name extends StateName> = Task & { readonly state: StateOf<Name> };

export type Next =
  | { readonly ok: true; readonly changes: Changes }
  /** `message`: a sentence for people. */
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string };

/** What happened is on record already, or changes nothing. */
export const unchanged: Next = { ok: true, changes: {} };

export function change(changes: Changes): Next {
  return { ok: true, changes };
}

export function refuse(code: RefusalCode, message: string): Next {
  return { ok: false, code, message };
}

/** The event does not belong to the task's state. `what`: the event, or what a person calls it. */
export function notNow({ state }: Task, what: string): Next {
  const code = state.at === 'ended' || state.at === 'ending' ? 'over' : 'not_now';
  return refuse(code, `\`${what}\` is not possible while ${stateWords[state.at]}.`);
}

/** The attempts with one of them changed. */
export function withAttempt(task: Task, n: number, changes: Partial<Attempt>): readonly Attempt[] {
  return task.attempts.map((attempt) => (attempt.n === n ? { ...attempt, ...changes } : attempt));
}

/** The late answer to what nobody waits for any more must not become the task's job. */
export function withoutLost({ attempts }: Pick<Task, 'attempts'>): readonly Attempt[] {
  return attempts.map((attempt) =>
    attempt.state === 'lost' || attempt.state === 'sending' ? { ...attempt, state: 'abandoned' } : attempt,
  );
}
