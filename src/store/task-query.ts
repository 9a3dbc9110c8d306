import type { Filter } from 'mongodb';
import { attentionReasons } from '../domain/attention.ts';
import type { AttentionReason } from '../domain/attention.ts';
import { defined } from '../domain/defined.ts';
import { failureClasses } from '../domain/failure.ts';
import type { FailureClass } from '../domain/failure.ts';
import { taskStatuses } from '../domain/task.ts';
import type { TaskKind, TaskStatus } from '../domain/task.ts';
import { sortKey } from './task-document.ts';
import type { EndKind, TaskDocument } from './task-document.ts';

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

/** Times in Unix seconds, inclusive and exclusive. */
export interface EndFilter extends Pick<TaskFilter, 'status' | 'failureClass'> {
  readonly endedAfter?: number;
  readonly endedBefore?: number;
}

/** The query of a page of tasks that have ended; `last` is the `end.sort` that the page before ended with. */
export function endQuery(filter: EndFilter, last: string | undefined): Filter<TaskDocument> {
  const { endedAfter, endedBefore } = filter;
  const before = endedBefore === undefined ? [] : [sortKey(endedBefore * 1000, '')];
  const [upper] = [...before, ...(last === undefined ? [] : [last])].sort();
  const lower = endedAfter === undefined ? '' : sortKey(endedAfter * 1000, '');
  return {
    'end.kind': { $in: endKinds.filter((kind) => isEnd(kind, filter)) },
    'end.sort': { $gte: lower, ...defined({ $lt: upper }) },
  };
}

/** Named one by one, each is an interval of the index. */
export const endKinds: readonly EndKind[] = ['succeeded', ...failureClasses];

function isEnd(kind: EndKind, { status, failureClass }: EndFilter): boolean {
  const isAsked = failureClass === undefined || kind === failureClass;
  return isAsked && (status === undefined || status === (kind === 'succeeded' ? kind : 'failed'));
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
