import { z } from 'zod';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { dashscopeRefusal, readDashscopeJob, readDashscopeRefusal } from './dashscope-answer.ts';
import type { DashscopeJob } from './dashscope-answer.ts';
import { dashscopeFailures } from './dashscope-failures.ts';
import { bearer, isSuccess, optionalText, unknownJob, unreadableError } from '../shared/http-outcome.ts';
import { cancelledJob, failedJob } from '../shared/job-status.ts';
import type { Operation, OperationStatus, ProviderContext, SubmitContext, Submitted } from '../provider.ts';

/** Video tasks and asynchronous image tasks share this code. The operation is `{id}`. */

export async function submitDashscopeTask(
  path: string,
  body: OutgoingObject,
  context: SubmitContext,
): Promise<Submitted> {
  const answer = await context.request({
    method: 'POST',
    url: `${context.baseUrl}/services/aigc/${path}`,
    headers: { ...bearer(context), 'x-dashscope-async': 'enable' },
    json: body,
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw dashscopeRefusal(answer);
  const job = readDashscopeJob(answer.json);
  const id = job?.output.task_id;
  if (id === undefined || id.length > 200) throw unreadableError(answer, 'it has no task id');
  return { operation: { id }, traceId: job?.request_id ?? id };
}

export async function dashscopeStatus(
  operation: Operation,
  context: ProviderContext,
  succeeded: (job: DashscopeJob) => OperationStatus | undefined,
): Promise<OperationStatus> {
  const url = `${context.baseUrl}/tasks/${encodeURIComponent(operation.id)}`;
  const answer = await context.request({
    method: 'GET',
    url,
    headers: bearer(context),
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw dashscopeRefusal(answer);
  const job = readDashscopeJob(answer.json);
  if (job === undefined) throw unreadableError(answer, 'it is not a task');
  const { task_status: word, code, message } = job.output;
  switch (word ?? '') {
    case 'PENDING':
      return { state: 'pending', phase: 'submitted' };
    case 'SUCCEEDED': {
      const found = succeeded(job);
      if (found === undefined) throw unreadableError(answer, 'the task succeeded but has no file');
      return found;
    }
    case 'FAILED':
      return failedJob(dashscopeFailures, { code, message }, { unbilled: true });
    case 'CANCELED':
      return cancelledJob();
    case 'UNKNOWN':
      // The task does not exist, is more than a day old, or is so new that the upstream does not show it yet.
      throw unknownJob(answer.status, { code: 'UNKNOWN' });
    default:
      // `RUNNING`, `SUSPENDED` and unknown states are treated as running.
      return { state: 'pending', phase: 'running' };
  }
}

/** Only a pending task can be cancelled. The upstream rejects this for any other task, in its own error format. */
export async function cancelDashscopeTask(
  operation: Operation,
  context: ProviderContext,
): Promise<'cancelled' | 'refused'> {
  const url = `${context.baseUrl}/tasks/${encodeURIComponent(operation.id)}/cancel`;
  const answer = await context.request({
    method: 'POST',
    url,
    headers: bearer(context),
    signal: context.signal,
  });
  if (isSuccess(answer)) return 'cancelled';
  const refusal = dashscopeRefusal(answer);
  if (refusal.outcome === 'rejected' && readDashscopeRefusal(answer.json) !== undefined) return 'refused';
  throw refusal;
}

/** The list covers only the account's newest tasks, so a task that is being polled may be missing. */
const listPageSize = 100;
export const dashscopeListMax = 50;

const listSchema = z.object({
  data: z.array(z.object({ task_id: optionalText, status: optionalText }).catch({})),
});
const ended = new Set(['SUCCEEDED', 'FAILED', 'CANCELED', 'UNKNOWN']);

/**
 * The list contains no results, so only unfinished tasks are returned. Finished tasks, and those that are missing from
 * the list, are polled individually.
 */
export async function listDashscopeTasks(
  operations: readonly Operation[],
  context: ProviderContext,
): Promise<ReadonlyMap<string, OperationStatus>> {
  const answer = await context.request({
    method: 'GET',
    url: `${context.baseUrl}/tasks/?page_no=1&page_size=${listPageSize}`,
    headers: bearer(context),
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw dashscopeRefusal(answer);
  const page = listSchema.safeParse(answer.json).data;
  if (page === undefined) throw unreadableError(answer, 'it is not a list');
  const asked = new Set(operations.map(({ id }) => id));
  const found = new Map<string, OperationStatus>();
  for (const { task_id: id, status: word } of page.data) {
    if (id === undefined || word === undefined || !asked.has(id) || ended.has(word)) continue;
    found.set(id, { state: 'pending', phase: word === 'PENDING' ? 'submitted' : 'running' });
  }
  return found;
}
