import { attentionOf } from '../task/attention.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import { jobKey, mayHaveJob } from '../task/attempt.ts';
import { defined } from '../base/defined.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { Changes } from '../task/next.ts';
import type { Task } from '../task/record.ts';
import { attemptAt, isAbandoned, isLost } from '../task/state.ts';
import type { Wait } from '../task/wait.ts';
import { updateWith } from './mongo.ts';
import type { SealedParts } from './sealed-document.ts';

/** A task as stored: its record, and what only indexes need. Times in Unix milliseconds, amounts as int64. */
export interface TaskDocument extends Omit<Task, 'id'> {
  readonly _id: string;
  /** Sorts by creation, newest last; unique. */
  readonly sort: string;
  /** Upstream jobs that are, or were, the task's: `<channel>/<upstream id>`. No job belongs to two tasks. */
  readonly jobs?: readonly string[];
  /** The task has ended, and its caller does not know it. */
  readonly owes?: string;
  /** The task again, while its callback is abandoned: what operators list, in an index of few. */
  readonly gaveUp?: string;
  /** `sort` again, while an attempt may have a job that is not known: what lines of bills are compared with. */
  readonly unclaimed?: string;
  /** Set while the task waits for a failed upstream. A separate field, so that its index contains only these tasks. */
  readonly behind?: { readonly place: string; readonly deadlineAt: number };
  /** Of a task that has ended, what is counted of its end, in an index of its own. */
  readonly end?: TaskEnd;
  /** What upstreams said, as task-words.ts seals it. */
  readonly words?: SealedParts;
  /** The links of each result, or the links that are withheld from callers. Sealed by task-links.ts. */
  readonly links?: SealedParts;
  /** Counts the reads that had to be writes. */
  readonly reads?: number;
}

/** How a task ended: as what it failed, unless it succeeded. */
export type EndKind = 'succeeded' | FailureClass;

interface TaskEnd {
  readonly kind: EndKind;
  /** As `sort` of the task, with the time of its end. */
  readonly sort: string;
  /** From the end of the render to the task's. Absent: its vendor does not say when that was. */
  readonly lateMs?: number;
}

export function toDocument(task: Task): TaskDocument {
  const { id: _id, ...fields } = task;
  const behind = behindOf(task);
  return { _id, sort: sortKey(task.createdAt, task.id), ...fields, ...defined({ ...derived(task), behind }) };
}

/** What is large (the outcome, the actions) is passed on, not copied. */
export function toTask(document: TaskDocument): Task {
  const {
    _id: id,
    sort: _sort,
    jobs: _jobs,
    owes: _owes,
    gaveUp: _gaveUp,
    unclaimed: _unclaimed,
    behind: _behind,
    end: _end,
    reads: _reads,
    words: _words,
    links: _links,
    ...fields
  } = document;
  return { id, ...fields };
}

/** Fields by path. Undefined removes the field. */
type MoreFields = Readonly<Record<string, unknown>>;

/** The update that makes these changes, with what follows from them. */
export function updateOf(before: Task, changes: Changes, more: MoreFields = {}) {
  const was = derived(before);
  const follows = derived({
    ...before,
    ...defined({ state: changes.state, attempts: changes.attempts, callback: changes.callback }),
    concern: 'concern' in changes ? changes.concern : before.concern,
  });
  const end = changes.state?.at === 'ended' ? endOf(before, changes) : undefined;
  // A concern is noted beside the state: one that was noted since the record was seen goes with it.
  const asks = 'concern' in changes ? { attention: follows.attention } : {};
  const { wait } = 'wait' in changes ? changes : before;
  const { deadlineAt = before.deadlineAt } = changes;
  const isMoved = 'wait' in changes || 'deadlineAt' in changes;
  const waits = isMoved ? { behind: behindOf({ deadlineAt, wait }) } : {};
  const written = { ...changes, ...asks, ...waits, ...changed(was, follows), ...defined({ end }), ...more };
  const $unset: Record<string, ''> = {};
  for (const [name, value] of Object.entries(written)) if (value === undefined) $unset[name] = '';
  return updateWith<TaskDocument>({ $set: defined(written), $inc: { rev: 1 }, $unset });
}

/** The waits that may end early when an upstream recovers. `backoff` does not: the upstream named its end. */
const failedUpstream: ReadonlySet<string> = new Set(['circuit', 'turn', 'upstream']);

/** Returns the value of `behind`. Undefined if the task does not wait for a failed upstream. */
export function behindOf({
  deadlineAt,
  wait,
}: Pick<Task, 'deadlineAt'> & { readonly wait?: Wait | undefined }) {
  const { cause = '', channel, credential } = wait ?? {};
  if (!failedUpstream.has(cause) || channel === undefined || credential === undefined) return undefined;
  return { place: placeBehind({ channel, credential }), deadlineAt };
}

export function placeBehind({ channel, credential }: RouteCandidate): string {
  return `${channel}/${credential}`;
}

/** Written once, with the end. */
function endOf({ id, outcome }: Task, { completedAt, status, error }: Changes): TaskEnd | undefined {
  if (completedAt === undefined || status === undefined) return undefined;
  const renderedAt = status === 'succeeded' && outcome?.kind === 'succeeded' ? outcome.renderedAt : undefined;
  const lateMs = renderedAt === undefined ? undefined : Math.max(0, completedAt - renderedAt);
  const kind = status === 'succeeded' ? status : (error?.class ?? 'internal');
  return { kind, sort: sortKey(completedAt, id), ...defined({ lateMs }) };
}

/** Fields that follow from the rest of the record, for lists and indexes; undefined: absent. */
type Deriving = Pick<Task, 'id' | 'createdAt' | 'state' | 'attempts' | 'hasCallback' | 'callback'> & {
  readonly concern?: Task['concern'] | undefined;
};

function derived(task: Deriving) {
  const { state, attempts, hasCallback, callback } = task;
  const lost = isLost(state) ? attemptAt(state, attempts) : undefined;
  const job = attempts.findLast((attempt) => attempt.state === 'accepted' || attempt.state === 'failed');
  const where = lost ?? job;
  const jobs = attempts.flatMap(({ channel, operation }) =>
    operation === undefined ? [] : [jobKey(channel, operation.id)],
  );
  const isOwed =
    state.at === 'ended' &&
    !isAbandoned(state) &&
    hasCallback &&
    (callback === undefined || callback.state === 'pending');
  return {
    channel: where?.channel,
    credential: where?.credential,
    upstreamId: lost === undefined ? job?.operation?.id : undefined,
    attention: attentionOf(task),
    // An empty array would be a value like any other to a unique index.
    jobs: jobs.length === 0 ? undefined : jobs,
    owes: isOwed ? task.id : undefined,
    unclaimed: attempts.some(mayHaveJob) ? sortKey(task.createdAt, task.id) : undefined,
  };
}

type Derived = ReturnType<typeof derived>;

function changed(was: Derived, follows: Derived): Partial<Derived> {
  const before = new Map<string, unknown>(Object.entries(was));
  return Object.fromEntries(
    Object.entries(follows).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name)),
    ),
  );
}

/** Fixed width, so that strings sort as times do. */
export function sortKey(time: number, id: string): string {
  return `${paddedTime(time)}-${id}`;
}

function paddedTime(milliseconds: number): string {
  return milliseconds.toString().padStart(14, '0');
}

/** The name of a try of a creation; no two tries share one. */
export function tryIdAt(milliseconds: number, random: string): string {
  return `${paddedTime(milliseconds)}-${random}`;
}
