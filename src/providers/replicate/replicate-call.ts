import { z } from 'zod';
import { replicateFailures } from './replicate-failures.ts';
import { defined } from '../../base/defined.ts';
import type { Refusal } from '../shared/failure-table.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import {
  bearer,
  isSuccess,
  optionalNumber,
  optionalText,
  refusalError,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import type { HttpResponse, ProviderContext, UpstreamError } from '../provider.ts';

interface ReplicateRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: OutgoingObject;
  readonly form?: FormData;
  /** If set, the call also succeeds if the prediction does not exist. */
  readonly isGone?: boolean;
}

/** In bytes. Large enough for a list page with a hundred predictions, including their inputs and logs. */
const bodyBytesMax = 16 * 1024 * 1024;

export async function callReplicate(
  request: ReplicateRequest,
  context: ProviderContext,
): Promise<HttpResponse> {
  const answer = await send(request, context);
  if (isSuccess(answer) || (request.isGone === true && isUnknown(answer))) return answer;
  throw replicateError(answer);
}

function send(
  { method, path, json, form }: ReplicateRequest,
  context: ProviderContext,
): Promise<HttpResponse> {
  return context.request({
    method,
    url: context.baseUrl + path,
    headers: bearer(context),
    ...defined({ json, form }),
    signal: context.signal,
    bodyBytesMax,
  });
}

function replicateError(answer: HttpResponse): UpstreamError {
  return refusalError(answer, readRefusal(answer.json), replicateFailures);
}

export async function askReplicate(
  request: ReplicateRequest,
  context: ProviderContext,
): Promise<{ readonly answer: HttpResponse; readonly prediction: Prediction }> {
  const answer = await send(request, context);
  if (!isSuccess(answer)) throw isUnknown(answer) ? unknownJob(404) : replicateError(answer);
  const prediction = readPrediction(answer.json);
  if (prediction === undefined) throw unreadableError(answer, 'it is not a prediction');
  return { answer, prediction };
}

/**
 * Returns true if the vendor does not know the prediction. Only the vendor's own format is trusted, because a proxy may
 * respond with 404 too.
 */
function isUnknown({ status, json }: HttpResponse): boolean {
  return status === 404 && readRefusal(json) !== undefined;
}

const refusalSchema = z.object({
  title: optionalText,
  detail: optionalText,
  retry_after: optionalNumber,
  invalid_fields: z.array(z.object({ field: optionalText, description: optionalText })).catch([]),
});

/** Reads `{"title","detail","status","invalid_fields"?}`, `{"detail","status","retry_after"?}`, or `{"detail"}` alone. */
function readRefusal(json: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  const words = [said?.title, said?.detail, said?.invalid_fields[0]?.description];
  const message = [...new Set(words)].filter((text) => text !== undefined).join(': ');
  if (message === '') return undefined;
  const field = said?.invalid_fields[0]?.field?.replace(/^(?:body\.)?input\./, '');
  const seconds = said?.retry_after;
  const retryAfterMs = seconds === undefined ? undefined : seconds * 1000;
  return defined({ code: '', message, field, retryAfterMs });
}

const predictionSchema = z.object({
  id: z.string().min(1).max(200),
  status: optionalText,
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  completed_at: optionalText,
  data_removed: z.boolean().optional().catch(undefined),
  webhook: optionalText,
  input: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
export type Prediction = z.infer<typeof predictionSchema>;

export function readPrediction(value: unknown): Prediction | undefined {
  return predictionSchema.safeParse(value).data;
}

const pageSchema = z.object({ next: optionalText, results: z.array(z.unknown()).catch([]) });

/**
 * `next` is the path of the next page. It is always requested from our own base URL, even if the response names another
 * host.
 */
export function readPage(value: unknown): {
  readonly next?: string;
  readonly predictions: readonly Prediction[];
} {
  const { next, results } = pageSchema.safeParse(value).data ?? { results: [] };
  const query = next !== undefined && URL.canParse(next) ? new URL(next).search : '';
  return defined({
    next: query === '' ? undefined : `/predictions${query}`,
    predictions: results.map(readPrediction).filter((prediction) => prediction !== undefined),
  });
}
