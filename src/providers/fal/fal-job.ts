import { z } from 'zod';
import { isModelName, isRequestId, namedApp, operationOf, requestUrl } from './fal-address.ts';
import { callFal, falError, isUnknown, readFalRefusal } from './fal-call.ts';
import { statusFromHistory } from './fal-history.ts';
import { falFailure, falSuccess, readOutcomeRefusal, type Outcome } from './fal-result.ts';
import { defined } from '../../base/defined.ts';
import type { FieldMapping } from '../../models/field-mapping.ts';
import type { GenerationRequest } from '../../models/request.ts';
import {
  isSuccess,
  optionalNumber,
  optionalText,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { mappedBody, mappedEndpoint, mappedIssue } from '../shared/mapped-request.ts';
import { UpstreamError } from '../provider.ts';
import type {
  HttpResponse,
  Operation,
  OperationStatus,
  ProviderContext,
  RequestIssue,
  SubmitContext,
  Submitted,
} from '../provider.ts';

export function checkFal(
  request: GenerationRequest,
  name: string,
  mapping: FieldMapping | undefined,
): RequestIssue | undefined {
  const refuse = (message: string): RequestIssue => ({ param: 'model', message });
  if (mapping === undefined) return refuse('The model needs a mapping on this channel.');
  const issue = mappedIssue(request, mapping);
  if (issue !== undefined) return issue;
  return isModelName(mappedEndpoint(request, mapping, name))
    ? undefined
    : refuse('The upstream name does not have the form owner/app or owner/app/path.');
}

const createdSchema = z.object({ request_id: z.string().refine(isRequestId), status_url: optionalText });

export async function submitFal(request: GenerationRequest, context: SubmitContext): Promise<Submitted> {
  const { mapping, callbackUrl, baseUrl } = context;
  const endpoint = mapping === undefined ? '' : mappedEndpoint(request, mapping, context.model);
  if (mapping === undefined || !isModelName(endpoint)) {
    // The channel's configuration changed after the task was planned.
    const message = 'The channel no longer has a valid mapping for the model.';
    throw new UpstreamError('unavailable', message, {
      code: 'mapping_missing',
      failure: { class: 'quota' },
    });
  }
  const query =
    callbackUrl === undefined ? '' : `?${new URLSearchParams({ fal_webhook: callbackUrl }).toString()}`;
  const json = mappedBody(request, mapping, context);
  const answer = await callFal({ method: 'POST', url: `${baseUrl}/${endpoint}${query}`, json }, context);
  if (!isSuccess(answer)) throw falError(answer);
  const created = createdSchema.safeParse(answer.json).data;
  if (created === undefined) throw unreadableError(answer, 'it has no request_id');
  const { request_id: id, status_url: statusUrl } = created;
  return { operation: operationOf(id, endpoint, namedApp(statusUrl, id, baseUrl)), traceId: id };
}

const statusSchema = z.object({
  request_id: optionalText,
  status: z.string().min(1),
  queue_position: optionalNumber,
});

export async function falStatus(
  operation: Operation,
  context: ProviderContext,
  kind: Outcome['kind'],
): Promise<OperationStatus> {
  const outcome: Outcome = { kind, mapping: context.mapping };
  const url = requestUrl(operation, context.baseUrl, '/status');
  const answer = await callFal({ method: 'GET', url }, context);
  if (isUnknown(answer)) return statusFromHistory(operation, context, outcome);
  if (!isSuccess(answer)) throw falError(answer);
  const said = statusSchema.safeParse(answer.json).data;
  if (said === undefined || (said.request_id !== undefined && said.request_id !== operation.id))
    throw unreadableError(answer, 'it says nothing about the request');
  switch (said.status) {
    case 'IN_QUEUE':
      return defined({
        state: 'pending' as const,
        phase: 'submitted' as const,
        queuePosition: said.queue_position,
      });
    // `COMPLETED` covers both success and failure. Only the result shows which.
    case 'COMPLETED':
      return (await readResult(operation, context, { outcome, status: answer })) ?? running;
    default:
      // `IN_PROGRESS` and unknown states are treated as running.
      return running;
  }
}

const running: OperationStatus = { state: 'pending', phase: 'running' };

async function readResult(
  operation: Operation,
  context: ProviderContext,
  { outcome, status }: { readonly outcome: Outcome; readonly status: HttpResponse },
): Promise<OperationStatus | undefined> {
  const answer = await callFal({ method: 'GET', url: requestUrl(operation, context.baseUrl, '') }, context);
  if (isUnknown(answer)) return statusFromHistory(operation, context, outcome);
  if (isSuccess(answer)) {
    const success = falSuccess(answer, outcome);
    if (success === undefined)
      throw unreadableError(answer, 'it has no file where the mapping looks for one');
    return success;
  }
  if (/still in progress/i.test(readFalRefusal(answer.json)?.message ?? '')) return undefined;
  const refusal = readOutcomeRefusal(answer) ?? readStatusError(status);
  if (refusal === undefined) throw falError(answer);
  return falFailure(answer, refusal, outcome);
}

function readStatusError({ json }: HttpResponse) {
  const refusal = readFalRefusal(json);
  return refusal === undefined || refusal.code === '' ? undefined : refusal;
}

const cancelSchema = z.object({ status: optionalText });

/**
 * A running request only receives a signal, which the model may ignore, so the next status decides. If the request was
 * accepted but is no longer known, it has been removed from the queue.
 */
export async function cancelFal(
  operation: Operation,
  context: ProviderContext,
  kind: Outcome['kind'],
): Promise<'cancelled' | 'refused'> {
  const url = requestUrl(operation, context.baseUrl, '/cancel');
  const answer = await callFal({ method: 'PUT', url }, context);
  const isLate = cancelSchema.safeParse(answer.json).data?.status === 'ALREADY_COMPLETED';
  if (!isSuccess(answer) && !isLate) throw isUnknown(answer) ? unknownJob(404) : falError(answer);
  const after = await falStatus(operation, context, kind).catch((error: unknown) => {
    if (error instanceof UpstreamError && error.gone && !isLate) return undefined;
    throw error;
  });
  const isCancelled =
    after === undefined || (after.state === 'failed' && after.failure.class === 'cancelled');
  return isCancelled ? 'cancelled' : 'refused';
}
