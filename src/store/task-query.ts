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

/** The query of a page of tasks; `before` is the sort key that the page before ended with. */
export function listQuery(filter: TaskFilter, before: string | undefined): Filter<TaskDocument> {
  const upper = [
    before,
    filter.createdBefore === undefined ? undefined : sortKey(filter.createdBefore * 1000, ''),
  ]
    .filter((bound) => bound !== undefined)
    .sort()[0];
  const lower = filter.createdAfter === undefined ? undefined : sortKey(filter.createdAfter * 1000, '');
  const range = {
    ...defined({ $lt: upper }),
    ...defined({ $gte: lower }),
  };
  return {
    ...defined({ account: filter.account }),
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
  status,
  channel,
  failureClass,
  needsAttention,
  attention,
}: TaskFilter): boolean {
  const named = [account, status, channel, failureClass, attention];
  return named.some((value) => value !== undefined) || needsAttention === true;
}
