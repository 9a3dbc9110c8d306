import { pastOf } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { defined } from '../base/defined.ts';
import { acceptedAs, adopted, broken, completed, polled, resubmitted, undone } from './job.ts';
import type { Task } from './record.ts';
import { approved, reviewed } from './review.ts';
import type { EventName, EventOf, TaskEvent } from './state.ts';
import { ended, extended, orphaned, stopped, unstoppable, wanted } from './stop.ts';
import { asked, lost, notAccepted, rejected, resumed, sending, skipped } from './submission.ts';
import { change, refuse, unchanged } from './transition.ts';
import type { Changes, Next } from './transition.ts';

export type { Changes, Next, RefusalCode } from './transition.ts';

/** The only transition function: pure, total; an impossible pair is a refusal, never a throw. `at`: Unix milliseconds. */
export function next(task: Task, event: TaskEvent, at: number): Next {
  if (task.state.at === 'given_up') {
    return event.kind === 'abandoned' ? unchanged : refuse('given_up', 'The creation was abandoned.');
  }
  const stepped = transition(task, { name: event.kind, event }, at);
  if (!stepped.ok || stepped === unchanged) return stepped;
  return { ok: true, changes: consequences(task, stepped.changes, { kind: event.kind, at }) };
}

/** These continue a creation; all else means that the task has begun. */
const creation: readonly EventName[] = ['taken_over', 'abandoned', 'held'];

/** What a try of the creation does, before the task begins. */
export function isOfCreation(event: EventName): boolean {
  return creation.includes(event);
}

/** What every change brings with it: what was noted about a state does not outlive it. */
function consequences(
  task: Task,
  changes: Changes,
  { kind, at }: { readonly kind: EventName; readonly at: number },
): Changes {
  const { state } = changes;
  const isLeft = state !== undefined && state.at !== task.state.at;
  return {
    ...(isOfCreation(kind) ? {} : { unstarted: undefined }),
    ...(isLeft ? { stateSince: at, waitsFor: undefined, concern: undefined } : {}),
    ...changes,
    ...(changes.attempts === undefined ? {} : { attempts: withPast(task, changes.attempts, at) }),
    // What an operator did that changes no state is nothing new to the caller.
    ...(kind === 'acted' ? {} : { updatedAt: at }),
  };
}

/** An attempt that had ended and stands otherwise now keeps how it stood. */
function withPast({ attempts }: Task, after: readonly Attempt[], at: number): readonly Attempt[] {
  return after.map((attempt) => {
    const before = attempts.find(({ n }) => n === attempt.n);
    if (before?.endedAt === undefined || before.state === attempt.state) return attempt;
    const endedAt = attempt.endedAt === before.endedAt ? at : attempt.endedAt;
    return { ...attempt, ...defined({ endedAt }), past: pastOf(before) };
  });
}

type Events = { readonly [Name in EventName]: EventOf<Name> };
type Transitions = {
  readonly [Name in EventName]: (task: Task, event: Events[Name], at: number) => Next;
};

const transitions: Transitions = {
  abandoned,
  taken_over: (task, { unstarted }) => creating(task, { unstarted }),
  held: (task, { hold }) => creating(task, { hold }),
  skipped, sending, not_accepted: notAccepted, rejected, lost, accepted: acceptedAs, asked, resumed,
  polled, broken, adopted, undone, resubmitted, completed, reviewed, approved,
  wanted, stopped, unstoppable, extended, acted: () => change({}), orphaned, ended,
}; // prettier-ignore

/** `name`: the event's, so that the compiler knows whose the transition is. */
function transition<Name extends EventName>(
  task: Task,
  { name, event }: { readonly name: Name; readonly event: Events[Name] },
  at: number,
): Next {
  return transitions[name](task, event, at);
}

function abandoned(task: Task, { unstarted }: EventOf<'abandoned'>): Next {
  return unstarted === task.unstarted
    ? change({ state: { at: 'given_up' } })
    : refuse('decided', 'The creation is no longer this try’s.');
}

function creating(task: Task, changes: Changes): Next {
  return task.unstarted === undefined ? refuse('decided', 'The task has begun.') : change(changes);
}
