import type { OutgoingObject } from '../shared/file-data-url.ts';
import { dashscopeRefusal, readDashscopeJob, readDashscopeRefusal } from './dashscope-answer.ts';
import type { DashscopeJob } from './dashscope-answer.ts';
import { dashscopeFailures } from './dashscope-failures.ts';
import { jobFailure } from '../shared/failure-table.ts';
import { bearer, isSuccess, unreadableError } from '../shared/http-outcome.ts';
import { UpstreamError } from '../provider.ts';
import type { Operation, OperationStatus, ProviderContext, SubmitContext, Submitted } from '../provider.ts';

/** The task life cycle that videos and asynchronous images share. The operation is `{id}`. */

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

/** `succeeded` turns the finished job into a status; undefined: it says succeeded and holds no file. */
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
      if (found === undefined) throw unreadableError(answer, 'the task succeeded and has no file');
      return found;
    }
    case 'FAILED':
      return dashscopeFailed({ code, message });
    case 'CANCELED':
      return {
        state: 'failed',
        code: 'upstream_cancelled',
        message: 'The task was cancelled.',
        failure: { class: 'cancelled' },
      };
    case 'UNKNOWN':
      // It does not exist, or is older than a day. Just after the submit it may not be visible yet.
      throw new UpstreamError('rejected', 'The upstream does not know the task.', {
        code: 'UNKNOWN',
        status: answer.status,
        gone: true,
      });
    default:
      // `RUNNING`, `SUSPENDED`, and every word that is not known yet.
      return { state: 'pending', phase: 'running' };
  }
}

/** A task, or an image of it, that failed with these words. */
export function dashscopeFailed(said: {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}): OperationStatus {
  const { code = 'failed', message = 'The upstream gave no reason.' } = said;
  return { state: 'failed', code, message, failure: jobFailure(dashscopeFailures, { code, message }) };
}

/** Only a pending task can be cancelled; the upstream refuses the others in its own words. */
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
