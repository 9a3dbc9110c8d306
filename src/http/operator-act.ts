import { isRecord } from '../base/is-record.ts';
import { formatMicros } from '../money/money.ts';
import type { OperatorAct } from '../commands/audit-log.ts';

export type ActFacts = Pick<OperatorAct, 'action' | 'target' | 'task' | 'reason' | 'input' | 'bulk'>;

export function operatorActOf(
  operationId: string,
  input: Readonly<Record<string, unknown>>,
  unrecorded: readonly string[] = [],
): ActFacts | undefined {
  const params = fieldsOf(input['params']);
  const body = { ...fieldsOf(input['query']), ...fieldsOf(input['body']) };
  if (body['dry_run'] === true) return undefined;
  const { reason, note, plan: _plan, bulk, ...rest } = body;
  const { task_id: task } = params;
  const isOnTask = typeof task === 'string';
  const names =
    Object.keys(params).length === 0
      ? [rest['account'] ?? rest['id'] ?? rest['name'] ?? '']
      : Object.values(params);
  return {
    action: isOnTask && typeof rest['action'] === 'string' ? rest['action'] : operationId,
    target: names.map(String).join('/'),
    ...(isOnTask ? { task } : {}),
    ...(isOnTask && typeof bulk === 'string' ? { bulk } : {}),
    reason: [reason, note].find((words) => typeof words === 'string') ?? '',
    input: Object.fromEntries(
      Object.entries(rest)
        .filter(([name]) => !unrecorded.includes(name))
        .map(([name, value]) => [name, typeof value === 'bigint' ? formatMicros(value) : value]),
    ),
  };
}

function fieldsOf(part: unknown): Readonly<Record<string, unknown>> {
  return isRecord(part) ? part : {};
}
