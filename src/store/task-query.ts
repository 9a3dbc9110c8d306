import type { Filter } from 'mongodb';
import { attentionReasons } from '../domain/attention.ts';
import type { AttentionReason } from '../domain/attention.ts';
import { defined } from '../domain/defined.ts';
import type { FailureClass } from '../domain/failure.ts';
import { taskStatuses } from '../domain/task.ts';
import type { TaskKind, TaskStatus } from '../domain/task.ts';
import { sortKey } from './task-document.ts';
import type { TaskDocument } from './task-document.ts';

export interface TaskFilter {
  readonly account?: string;
  /** Public id of the key that created it. */
  readonly key?: string;
  readonly status?: TaskStatus;
  readonly model?: string;
  readonly channel?: string;
  readonly kind?: TaskKind;
  /** Of failed tasks. */
  readonly failureClass?: FailureClass;
  readonly needsAttention?: boolean;
  readonly attention?: AttentionReason;
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
  const upper = [
    oldestFirst ? undefined : last,
    filter.createdBefore === undefined ? undefined : sortKey(filter.createdBefore * 1000, ''),
  ]
    .filter((bound) => bound !== undefined)
    .sort()[0];
  const lower = filter.createdAfter === undefined ? undefined : sortKey(filter.createdAfter * 1000, '');
  const range = {
    ...defined({ $lt: upper }),
    ...defined({ $gte: lower }),
    ...defined({ $gt: oldestFirst ? last : undefined }),
  };
  return {
    ...defined({ account: filter.account, key: filter.key }),
    ...(isIndexed(filter) ? defined({ status: filter.status }) : { status: { $in: [...taskStatuses] } }),
    ...defined({ model: filter.model }),
    ...defined({ channel: filter.channel }),
    ...defined({ kind: filter.kind }),
    ...defined({ 'error.class': filter.failureClass }),
    // As with the statuses above: each value is an interval of the index, which gives it in order.
    ...defined({ attention: filter.attention }),
    ...(filter.needsAttention === true && filter.attention === undefined
      ? { attention: { $in: [...attentionReasons] } }
      : {}),
    ...(Object.keys(range).length === 0 ? {} : { sort: range }),
  };
}

/** Whether an index of tasks begins with one of the fields; the others only narrow what it finds. */
function isIndexed({
  account,
  key,
  status,
  model,
  channel,
  failureClass,
  needsAttention,
  attention,
}: TaskFilter): boolean {
  const named = [account, key, status, model, channel, failureClass, attention];
  return named.some((value) => value !== undefined) || needsAttention === true;
}
