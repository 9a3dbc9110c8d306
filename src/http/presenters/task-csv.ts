import { isoSeconds } from '../../base/times.ts';
import type { Cell } from '../../money/csv.ts';
import { attentionOf } from '../../task/attention.ts';
import type { Task } from '../../task/record.ts';

export const taskColumns = [
  'id', 'status', 'account', 'key', 'model', 'channel', 'upstream_id', 'request_id', 'hold', 'charge', 'cost',
  'cost_unknown', 'error_class', 'error_code', 'needs_attention', 'created_at', 'completed_at',
]; // prettier-ignore

export function taskCells(task: Task): readonly Cell[] {
  const { id, status, account, key, model, channel, upstreamId, requestId, error, completedAt } = task;
  return [
    id, status, account, key, model, channel, upstreamId, requestId, task.hold, task.charge, task.cost,
    task.costUnknown, error?.class, error?.code, attentionOf(task), isoSeconds(task.createdAt),
    completedAt === undefined ? undefined : isoSeconds(completedAt),
  ]; // prettier-ignore
}
