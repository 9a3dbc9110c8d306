import { pastOf, type Attempt } from './attempt.ts';
import { defined } from '../base/defined.ts';
import {
  accepted, adopted, broken, completed, corrected, polled, rendering, resubmitted, undone,
} from './job.ts'; // prettier-ignore
import type { Task } from './record.ts';
import { approved, reviewed, settledAgain } from './review.ts';
import { queuedFor } from './rounds.ts';
import { isAbandoned, type EventName, type EventOf, type StateName, type TaskEvent } from './state.ts';
import {
  ended, extended, orphaned, stopped, unstoppable, wantedIdle, wantedInReview, wantedJob, wantedLost,
  wantedSending, wantedWhileEnding,
} from './stop.ts'; // prettier-ignore
import {
  acceptedLate, asked, decidedOtherwise, lost, notAccepted, notBegun, rejected, rejectedUnsent, resumed,
  sending, sendingAgain, skipped, unheard,
} from './submission.ts'; // prettier-ignore
import { change, notNow, refuse, unchanged, type Changes, type In, type Next } from './transition.ts';
import { waitInState, waitOf } from './state-wait.ts';
import { waitsAfter } from './wait.ts';

type Transition<State extends StateName, Event extends EventName> = (
  task: In<State>,
  event: EventOf<Event>,
  at: number,
) => Next;
type Row<State extends StateName> = { readonly [Event in EventName]?: Transition<State, Event> };

const same = (): Next => unchanged;
const noted = (): Next => change({});
const begun = (): Next => refuse('decided', 'The task has begun.');

/** Handles these events in every state that has no transition of its own for them. */
const anywhere: Row<StateName> = {
  abandoned: () => refuse('decided', 'Another attempt has taken over the creation of the task.'),
  taken_over: begun,
  held: begun,
  accepted: acceptedLate,
  not_accepted: unheard,
  rejected: unheard,
  lost: () => decidedOtherwise,
  unstoppable: same,
  acted: noted,
};

const unfinished = { extended, orphaned } as const;
const unanswered = { accepted, not_accepted: notAccepted, rejected } as const;
const ofLost = {
  ...unfinished,
  ...unanswered,
  lost: (task: In<'searching' | 'asking'>, { n }: EventOf<'lost'>) =>
    task.state.n === n ? unchanged : decidedOtherwise,
  wanted: wantedLost,
  stopped,
  adopted,
  resubmitted,
  completed,
} as const;
const ofJob = { ...unfinished, stopped, polled, broken, undone, completed, wanted: wantedJob } as const;

/**
 * Events that are not listed are refused. A task in `creating` also accepts the events of a queued task, and the first
 * of them completes its creation.
 */
const transitions: { readonly [State in StateName]: Row<State> } = {
  creating: {
    abandoned: ({ state }, { tryId }) =>
      state.tryId === tryId
        ? change({ state: { at: 'ended', abandoned: tryId } })
        : refuse('decided', 'Another attempt has taken over the creation of the task.'),
    taken_over: ({ state }, { tryId }) => change({ state: { ...state, tryId } }),
    held: (_task, { hold }) => change({ hold }),
  },
  queued: {
    ...unfinished,
    begun: same,
    skipped,
    sending,
    not_accepted: notBegun,
    rejected: rejectedUnsent,
    wanted: wantedIdle,
  },
  sending: { ...unfinished, ...unanswered, sending: sendingAgain, lost, wanted: wantedSending },
  pausing: { ...unfinished, resumed, wanted: wantedIdle },
  searching: { ...ofLost, asked, resumed: same },
  asking: {
    ...ofLost,
    asked: same,
    resumed: ({ state }) => change({ state: { ...state, at: 'searching' } }),
  },
  waiting: { ...ofJob, rendering },
  stopping: { ...ofJob, rendering, unstoppable },
  broken: { ...ofJob, resumed: ({ state: { n } }) => change({ state: { at: 'waiting', n } }) },
  ending: { polled: corrected, wanted: wantedWhileEnding, reviewed, ended, orphaned: same },
  review: {
    ...unfinished,
    wanted: wantedInReview,
    resumed: ({ state }) => settledAgain(state),
    approved,
    completed,
  },
  ended: { ended: same },
};

/**
 * The only function that changes a task's state. It is pure and never throws: an event that does not fit the state is
 * refused. `at` is in Unix milliseconds.
 */
export function next(task: Task, event: TaskEvent, at: number): Next {
  const { state } = task;
  if (isAbandoned(state)) {
    return event.kind === 'abandoned' ? unchanged : refuse('abandoned', 'The creation was abandoned.');
  }
  // The deadline was moved, or the timer ran on a different clock from the one that set the deadline.
  if (event.kind === 'wanted' && event.stop === 'expire' && at < task.deadlineAt)
    return refuse('not_now', 'The deadline has not passed.');
  const stepped =
    state.at === 'creating' ? ofCreation({ ...task, state }, event, at) : inRow(task, event, at);
  if (!stepped.ok || stepped === unchanged) return stepped;
  return { ok: true, changes: consequences(task, stepped.changes, { event, at }) };
}

function ofCreation(task: In<'creating'>, event: TaskEvent, at: number): Next {
  if (Object.hasOwn(transitions.creating, event.kind)) return inRow(task, event, at);
  const state = queuedFor(task.state);
  const after = inRow({ ...task, state }, event, at);
  return after.ok && (after !== unchanged || event.kind === 'begun')
    ? change({ state, ...after.changes })
    : after;
}

function inRow(task: Task, event: TaskEvent, at: number): Next {
  return step(task, { state: task.state.at, name: event.kind, event }, at);
}

type Events = { readonly [Event in EventName]: EventOf<Event> };

/**
 * `state` and `name` repeat what the task and the event contain, so that the compiler can infer the transition's types.
 */
function step<State extends StateName, Event extends EventName>(
  task: In<State>,
  { state, name, event }: { readonly state: State; readonly name: Event; readonly event: Events[Event] },
  at: number,
): Next {
  const row: Row<State> = transitions[state];
  const transition = row[name] ?? anywhere[name];
  if (transition !== undefined) return transition(task, event, at);
  return notNow(task, 'stop' in event ? event.stop : name);
}

/** States of the same stage share one start time. */
const stages: Readonly<Record<StateName, string>> = {
  creating: 'submission', queued: 'submission', sending: 'submission', pausing: 'pause', searching: 'loss', asking: 'loss',
  waiting: 'job', stopping: 'job', broken: 'broken', ending: 'ending', review: 'review', ended: 'ended',
}; // prettier-ignore

/** Adds the changes that every transition needs. A concern is removed when the task leaves its stage. */
function consequences(
  task: Task,
  changes: Changes,
  { event, at }: { readonly event: TaskEvent; readonly at: number },
): Changes {
  const { state } = changes;
  const { kind } = event;
  const isLeft = state !== undefined && stages[state.at] !== stages[task.state.at];
  return {
    ...(isLeft ? { stateSince: at, concern: undefined } : {}),
    ...changes,
    ...(state === undefined ? {} : waitsWith({ state, attempts: changes.attempts }, task, { event, at })),
    ...(changes.attempts === undefined ? {} : { attempts: withPast(task, changes.attempts, at) }),
    // The caller does not see an operator's action that leaves the state unchanged.
    ...(kind === 'acted' ? {} : { updatedAt: at }),
  };
}

/**
 * A reason given by the upstream or a circuit is more specific than the state's general cause, so it takes precedence.
 */
function waitsWith(
  { state, attempts }: Pick<Task, 'state'> & Pick<Changes, 'attempts'>,
  before: Task,
  { event, at }: { readonly event: TaskEvent; readonly at: number },
): Changes {
  const isSaid = event.kind === 'not_accepted' && (event.stays || state.at === 'pausing');
  const next = waitInState(state, attempts ?? before.attempts, isSaid ? event.wait : undefined);
  const { createdAt, waited } = before;
  return waitsAfter({ wait: waitOf(before), waited }, next, { at, createdAt });
}

/** If the state of an ended attempt is about to be overwritten, saves the old outcome in the attempt's history. */
function withPast({ attempts }: Task, after: readonly Attempt[], at: number): readonly Attempt[] {
  return after.map((attempt) => {
    const before = attempts.find(({ n }) => n === attempt.n);
    if (before?.endedAt === undefined || before.state === attempt.state) return attempt;
    const endedAt = attempt.endedAt === before.endedAt ? at : attempt.endedAt;
    return { ...attempt, ...defined({ endedAt }), past: pastOf(before) };
  });
}
