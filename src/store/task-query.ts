import type { Filter } from 'mongodb';
import { attentionReasons } from '../task/attention.ts';
import { defined } from '../base/defined.ts';
import { failureClasses, type FailureClass } from '../errors/failure.ts';
import { unsubmittedStates } from '../reports/census.ts';
import { taskStatuses, unfinishedStatuses } from '../task/task.ts';
import { taskKinds } from '../base/task-kind.ts';
import type { Task } from '../task/record.ts';
import { sortKey, type EndKind, type TaskDocument } from './task-document.ts';

export interface TaskFilter extends Partial<
  Pick<Task, 'account' | 'key' | 'status' | 'model' | 'channel' | 'kind' | 'attention'>
> {
  readonly failureClass?: FailureClass;
  readonly needsAttention?: boolean;
  /** Unix seconds. `createdAfter` is inclusive, `createdBefore` exclusive. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  /** Selects tasks that have not been submitted yet and will be submitted to this channel next. */
  readonly waitingFor?: string;
}

export function listQuery(
  filter: TaskFilter,
  last: string | undefined,
  oldestFirst = false,
): Filter<TaskDocument> {
  const { account, key, status, model, channel, failureClass, kind } = filter;
  const { needsAttention, createdAfter, createdBefore, waitingFor } = filter;
  const attention = filter.attention ?? (needsAttention === true ? { $in: attentionReasons } : undefined);
  const ofWaiting = waitingFor === undefined ? undefined : { $in: unfinishedStatuses };
  const chosen = {
    account,
    key,
    status: status ?? ofWaiting,
    model,
    channel,
    'error.class': failureClass,
    attention,
  };
  // The indexes by account and by key include the kind and the status. Each value in a list is then an interval of the
  // index, already in order.
  const isOfCaller = account !== undefined || key !== undefined;
  const isIndexed = !isOfCaller && Object.values(chosen).some((value) => value !== undefined);
  const range = defined({
    $lt: earliest(oldestFirst ? undefined : last, startOf(createdBefore)),
    $gte: startOf(createdAfter),
    $gt: oldestFirst ? last : undefined,
  });
  return {
    ...(isIndexed ? {} : { status: { $in: taskStatuses } }),
    ...(isOfCaller ? { kind: { $in: taskKinds } } : {}),
    ...defined({ ...chosen, kind }),
    ...(waitingFor === undefined ? {} : waitingQuery(waitingFor)),
    ...(Object.keys(range).length === 0 ? {} : { sort: range }),
  };
}

/** This must match what the census counts as waiting for the channel. */
function waitingQuery(channel: string): Filter<TaskDocument> {
  const absent = { $exists: false };
  return {
    'state.at': { $in: unsubmittedStates },
    $or: [
      { channel },
      { channel: absent, 'state.left.0.channel': channel },
      { channel: absent, 'state.left.0.channel': absent, 'plan.candidates.0.channel': channel },
    ],
  };
}

function startOf(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : sortKey(seconds * 1000, '');
}

function earliest(...bounds: readonly (string | undefined)[]): string | undefined {
  return bounds.filter((bound) => bound !== undefined).sort()[0];
}

/** Unix seconds. `endedAfter` is inclusive, `endedBefore` exclusive. */
export interface EndFilter extends Pick<TaskFilter, 'status' | 'failureClass'> {
  readonly endedAfter?: number;
  readonly endedBefore?: number;
}

export function endQuery(filter: EndFilter, last: string | undefined): Filter<TaskDocument> {
  const upper = earliest(last, startOf(filter.endedBefore));
  return {
    'end.kind': { $in: endKinds.filter((kind) => isEnd(kind, filter)) },
    'end.sort': { $gte: startOf(filter.endedAfter) ?? '', ...defined({ $lt: upper }) },
  };
}

/** Each kind is a separate interval of the index, so a query must list all of them. */
export const endKinds: readonly EndKind[] = ['succeeded', ...failureClasses];

function isEnd(kind: EndKind, { status, failureClass }: EndFilter): boolean {
  const isAsked = failureClass === undefined || kind === failureClass;
  return isAsked && (status === undefined || status === (kind === 'succeeded' ? kind : 'failed'));
}
