import { z } from 'zod';
import { historyUrl, isModelName, isRequestId, operationOf } from './fal-address.ts';
import { callFal, falError, readFalRefusal } from './fal-call.ts';
import { falFailure, falSuccess, type Outcome } from './fal-result.ts';
import type { GenerationRequest } from '../../models/request.ts';
import {
  isSuccess,
  optionalNumber,
  optionalText,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { endedJob, noReason } from '../shared/job-status.ts';
import { mappedEndpoint } from '../shared/mapped-request.ts';
import type { LostSubmit, Operation, OperationStatus, ProviderContext, Submitted } from '../provider.ts';

/** The vendor keeps inputs and outputs of requests for thirty days. */

const itemSchema = z.object({
  request_id: z.string().refine(isRequestId),
  endpoint_id: z.string().refine(isModelName).optional().catch(undefined),
  started_at: optionalText,
  ended_at: optionalText,
  status_code: optionalNumber,
  json_input: z.record(z.string(), z.unknown()).optional().catch(undefined),
  json_output: z.unknown().optional(),
});
const pageSchema = z.object({ items: z.array(z.unknown()), next_cursor: optionalText });

async function askHistory(query: Readonly<Record<string, string>>, context: ProviderContext) {
  const url = historyUrl(context.baseUrl, { ...query, expand: 'payloads' });
  const answer = await callFal({ method: 'GET', url }, context);
  if (!isSuccess(answer)) throw falError(answer);
  const page = pageSchema.safeParse(answer.json).data;
  if (page === undefined) throw unreadableError(answer, 'it is not a page of the history');
  const items = page.items.flatMap((item) => itemSchema.safeParse(item).data ?? []);
  return { answer, items, cursor: page.next_cursor };
}

const findPagesMax = 20;

/**
 * Searches the history for our marker. The history contains inputs unchanged, including the field that the mapping
 * reserves for the marker.
 */
export async function findFal(
  { request, marker, sentAfter, sentBefore }: LostSubmit<GenerationRequest>,
  context: ProviderContext,
): Promise<readonly Submitted[]> {
  const { mapping, model } = context;
  const field = mapping?.marker;
  if (mapping === undefined || field === undefined) return [];
  const endpoint = mappedEndpoint(request, mapping, model);
  const found = new Map<string, Submitted>();
  const query = {
    endpoint_id: endpoint,
    start: new Date(sentAfter).toISOString(),
    end: new Date(sentBefore).toISOString(),
    limit: '100',
  };
  let cursor: string | undefined;
  for (let page = 0; page < findPagesMax; page += 1) {
    const more = cursor === undefined ? {} : { cursor };
    const { items, cursor: next } = await askHistory({ ...query, ...more }, context);
    for (const { request_id: id, endpoint_id: own = endpoint, json_input: input } of items)
      if (input?.[field] === marker) found.set(id, { operation: operationOf(id, own), traceId: id });
    if (next === undefined) break;
    cursor = next;
  }
  return [...found.values()];
}

/** Reads the status of a request that the queue no longer has. Throws if the history does not have it either. */
export async function statusFromHistory(
  { id, endpoint = '' }: Operation,
  context: ProviderContext,
  outcome: Outcome,
): Promise<OperationStatus> {
  const { answer, items } = await askHistory({ endpoint_id: endpoint, request_id: id }, context);
  const item = items.find((each) => each.request_id === id);
  if (item === undefined) {
    throw unknownJob(404);
  }
  const { status_code: status, json_output: json } = item;
  if (status === undefined) {
    if (item.ended_at !== undefined) throw unreadableError(answer, 'the request ended without a status');
    return { state: 'pending', phase: item.started_at === undefined ? 'submitted' : 'running' };
  }
  const kept = { status, json, headers: {} };
  if (!isSuccess({ ...kept, text: '' })) {
    return falFailure(kept, readFalRefusal(json) ?? { code: '', message: noReason }, outcome);
  }
  const message = 'The result was deleted before it was fetched.';
  return (
    falSuccess(kept, outcome) ?? endedJob({ code: 'result_expired', message, failure: { class: 'expired' } })
  );
}
