import { pastOf } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { defined } from './defined.ts';
import { acceptedAs, adopted, broken, completed, polled, resubmitted, undone } from './task-job.ts';
import type { Task } from './task-record.ts';
import { approved, reviewed } from './task-review.ts';
import type { EventName, EventOf, TaskEvent } from './task-state.ts';
import { ended, extended, orphaned, stopped, unstoppable, wanted } from './task-stop.ts';
import { asked, lost, notAccepted, rejected, resumed, sending, skipped } from './task-submission.ts';
import { change, refuse, unchanged } from './task-transition.ts';
import type { Changes, Next } from './task-transition.ts';

export type { Changes, Next, RefusalCode } from './task-transition.ts';

/** The only transition function: pure, total; an impossible pair is a refusal, never a throw. `at`: Unix milliseconds. */
export function next(task: Task, event: TaskEvent, at: number): Next {
  if (task.state.at === 'given_up') {
    return event.kind === 'abandoned' ? unchanged : refuse('given_up', 'The creation was abandoned.');
  }
  const stepped = transition(task, event, at);
  if (!stepped.ok || stepped === unchanged) return stepped;
  return { ok: true, changes: consequences(task, event, { changes: stepped.changes, at }) };
}

/** These continue a creation; all else means that the task has begun. */
const creation: readonly EventName[] = ['taken_over', 'abandoned', 'held'];

/** What a try of the creation does, before the task begins. */
export function isOfCreation(event: EventName): boolean {
  return creation.includes(event);
}

interface Changed {
  readonly changes: Changes;
  readonly at: number;
}

/** What every change brings with it: what was noted about a state does not outlive it. */
function consequences(task: Task, { kind }: TaskEvent, { changes, at }: Changed): Changes {
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

function transition(task: Task, event: TaskEvent, at: number): Next {
  switch (event.kind) {
    case 'abandoned':
      return abandoned(task, event);
    case 'taken_over':
      return creating(task, { unstarted: event.unstarted });
    case 'held':
      return creating(task, { hold: event.hold });
    case 'skipped':
      return skipped(task, event, at);
    case 'sending':
      return sending(task, event, at);
    case 'not_accepted':
      return notAccepted(task, event, at);
    case 'rejected':
      return rejected(task, event, at);
    case 'lost':
      return lost(task, event, at);
    case 'accepted':
      return acceptedAs(task, event, at);
    case 'asked':
      return asked(task, event);
    case 'resumed':
      return resumed(task, event, at);
    case 'polled':
      return polled(task, event, at);
    case 'broken':
      return broken(task, event);
    case 'adopted':
      return adopted(task, event, at);
    case 'undone':
      return undone(task, event, at);
    case 'resubmitted':
      return resubmitted(task, event);
    case 'completed':
      return completed(task, event);
    case 'reviewed':
      return reviewed(task, event);
    case 'approved':
      return approved(task, event);
    case 'wanted':
      return wanted(task, event);
    case 'stopped':
      return stopped(task, event);
    case 'unstoppable':
      return unstoppable(task, event);
    case 'extended':
      return extended(task, event, at);
    case 'acted':
      return change({});
    case 'orphaned':
      return orphaned(task, event);
    case 'ended':
      return ended(task, event, at);
    default:
      return event satisfies never;
  }
}

function abandoned(task: Task, { unstarted }: EventOf<'abandoned'>): Next {
  return unstarted === task.unstarted
    ? change({ state: { at: 'given_up' } })
    : refuse('decided', 'The creation is no longer this try’s.');
}

function creating(task: Task, changes: Changes): Next {
  return task.unstarted === undefined ? refuse('decided', 'The task has begun.') : change(changes);
}
