import type { Filter } from 'mongodb';
import { attentionReasons } from '../task/attention.ts';
import { defined } from '../base/defined.ts';
import { failureClasses } from '../errors/failure.ts';
import type { FailureClass } from '../errors/failure.ts';
import { taskStatuses } from '../task/task.ts';
import type { Task } from '../task/record.ts';
import { sortKey } from './task-document.ts';
import type { EndKind, TaskDocument } from './task-document.ts';

export interface TaskFilter extends Partial<
  Pick<Task, 'account' | 'key' | 'status' | 'model' | 'channel' | 'kind' | 'attention'>
> {
  /** Of failed tasks. */
  readonly failureClass?: FailureClass;
  readonly needsAttention?: boolean;
  /** Unix seconds, inclusive and exclusive. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

/** The query of a page of tasks; `last` is the sort key that the page before ended with. */
export function listQuery(
  filter: TaskFilter,
  last: string | undefined,
  oldestFirst = false,
): Filter<TaskDocument> {
  const { account, key, status, model, channel, failureClass, kind } = filter;
  const { needsAttention, createdAfter, createdBefore } = filter;
  const attention = filter.attention ?? (needsAttention === true ? { $in: attentionReasons } : undefined);
  const chosen = { account, key, status, model, channel, 'error.class': failureClass, attention };
  // Each status is an interval of an index, which gives its tasks in order; so is each reason.
  const isIndexed = Object.values(chosen).some((value) => value !== undefined);
  const range = defined({
    $lt: earliest(oldestFirst ? undefined : last, startOf(createdBefore)),
    $gte: startOf(createdAfter),
    $gt: oldestFirst ? last : undefined,
  });
  return {
    ...(isIndexed ? {} : { status: { $in: taskStatuses } }),
    ...defined({ ...chosen, kind }),
    ...(Object.keys(range).length === 0 ? {} : { sort: range }),
  };
}

/** The first sort key of a time; Unix seconds. */
function startOf(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : sortKey(seconds * 1000, '');
}

function earliest(...bounds: readonly (string | undefined)[]): string | undefined {
  return bounds.filter((bound) => bound !== undefined).sort()[0];
}

/** Times in Unix seconds, inclusive and exclusive. */
export interface EndFilter extends Pick<TaskFilter, 'status' | 'failureClass'> {
  readonly endedAfter?: number;
  readonly endedBefore?: number;
}

/** The query of a page of tasks that have ended; `last` is the `end.sort` that the page before ended with. */
export function endQuery(filter: EndFilter, last: string | undefined): Filter<TaskDocument> {
  const upper = earliest(last, startOf(filter.endedBefore));
  return {
    'end.kind': { $in: endKinds.filter((kind) => isEnd(kind, filter)) },
    'end.sort': { $gte: startOf(filter.endedAfter) ?? '', ...defined({ $lt: upper }) },
  };
}

/** Named one by one, each is an interval of the index. */
export const endKinds: readonly EndKind[] = ['succeeded', ...failureClasses];

function isEnd(kind: EndKind, { status, failureClass }: EndFilter): boolean {
  const isAsked = failureClass === undefined || kind === failureClass;
  return isAsked && (status === undefined || status === (kind === 'succeeded' ? kind : 'failed'));
}
