import { attentionOf } from '../task/attention.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import { jobKey, mayHaveJob } from '../task/attempt.ts';
import type { Reach } from '../base/key-scope.ts';
import { defined } from '../base/defined.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { Changes } from '../task/transition.ts';
import type { Task } from '../task/record.ts';
import { attemptAt, isAbandoned, isLost } from '../task/state.ts';
import { partsOfId } from '../base/search-text.ts';
import type { Wait } from '../task/wait.ts';
import { updateWith } from './mongo.ts';
import type { SealedParts } from './sealed-document.ts';

export interface TaskDocument extends Omit<Task, 'id'> {
  readonly _id: string;
  /** A unique key that sorts tasks by creation, oldest first. */
  readonly sort: string;
  readonly parts?: readonly string[];
  /** All upstream jobs of the task, past and present, as `<channel>/<upstream id>`. No two tasks share a job. */
  readonly jobs?: readonly string[];
  /** The task's own id, set when the task finishes and removed once its caller has been notified. */
  readonly owes?: string;
  /**
   * The task's own id, set while its callback is abandoned. Other tasks lack the field, so the index for operators
   * stays small.
   */
  readonly gaveUp?: string;
  /** Set if the task has a callback. `of` names the logs that list the task, and `sort` is a copy of the task's own. */
  readonly log?: { readonly of: readonly string[]; readonly sort: string };
  /**
   * A copy of `sort`, set while one of the task's attempts may have an unknown job. Lines of upstreams' bills are
   * compared with these tasks.
   */
  readonly unclaimed?: string;
  /** Set while the task waits for a failed upstream. A separate field keeps the index small. */
  readonly behind?: { readonly place: string; readonly deadlineAt: number };
  readonly end?: TaskEnd;
  readonly said?: { readonly terms: readonly string[]; readonly sort: string };
  readonly words?: SealedParts;
  /** Links to results, including those withheld from callers. Sealed by task-links.ts. */
  readonly links?: SealedParts;
  readonly reads?: number;
}

export type EndKind = 'succeeded' | FailureClass;

interface TaskEnd {
  readonly kind: EndKind;
  readonly sort: string;
  /**
   * The time from the end of the render to the end of the task, in milliseconds. Undefined if the vendor does not
   * report when the render ended.
   */
  readonly lateMs?: number;
}

export function toDocument(task: Task): TaskDocument {
  const { id: _id, ...fields } = task;
  const behind = behindOf(task);
  const sort = sortKey(task.createdAt, _id);
  const found = { sort, parts: partsOfId(_id) };
  const log = task.hasCallback ? { of: [logOf(task), logOf({ account: task.account })], sort } : undefined;
  return { _id, ...found, ...fields, ...defined({ ...derived(task), behind, log }) };
}

export function logOf({ account, key }: Reach): string {
  return key === undefined ? `account ${account}` : `key ${key}`;
}

/** Shares the outcome and the actions with the document instead of copying them, because they may be large. */
export function toTask(document: TaskDocument): Task {
  const {
    _id: id,
    sort: _sort,
    parts: _parts,
    jobs: _jobs,
    owes: _owes,
    gaveUp: _gaveUp,
    log: _log,
    unclaimed: _unclaimed,
    behind: _behind,
    end: _end,
    reads: _reads,
    said: _said,
    words: _words,
    links: _links,
    ...fields
  } = document;
  return { id, ...fields };
}

/** Keys are paths to fields. A value of undefined removes the field. */
type MoreFields = Readonly<Record<string, unknown>>;

export function updateOf(before: Task, changes: Changes, more: MoreFields = {}) {
  const was = derived(before);
  const follows = derived({
    ...before,
    ...defined({ state: changes.state, attempts: changes.attempts, callback: changes.callback }),
    concern: 'concern' in changes ? changes.concern : before.concern,
  });
  const end = changes.state?.at === 'ended' ? endOf(before, changes) : undefined;
  // Concerns are stored separately from the state. Removing one here also removes a concern that was added after the
  // record was read.
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

/**
 * Waits for these reasons can end early when an upstream recovers. A `backoff` cannot, because the upstream set its
 * end.
 */
const failedUpstream: ReadonlySet<string> = new Set(['circuit', 'turn', 'upstream']);

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

function endOf({ id, outcome }: Task, { completedAt, status, error }: Changes): TaskEnd | undefined {
  if (completedAt === undefined || status === undefined) return undefined;
  const renderedAt = status === 'succeeded' && outcome?.kind === 'succeeded' ? outcome.renderedAt : undefined;
  const lateMs = renderedAt === undefined ? undefined : Math.max(0, completedAt - renderedAt);
  const kind = status === 'succeeded' ? status : (error?.class ?? 'internal');
  return { kind, sort: sortKey(completedAt, id), ...defined({ lateMs }) };
}

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
    // Omit an empty array, because a unique index would allow only one task to have it.
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

/** The time has a fixed width, so keys sort by time. */
export function sortKey(time: number, id: string): string {
  return `${paddedTime(time)}-${id}`;
}

function paddedTime(milliseconds: number): string {
  return milliseconds.toString().padStart(14, '0');
}

export function tryIdAt(milliseconds: number, random: string): string {
  return `${paddedTime(milliseconds)}-${random}`;
}
