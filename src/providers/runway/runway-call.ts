import { z } from 'zod';
import { runwayFailures } from './runway-failures.ts';
import { defined } from '../../base/defined.ts';
import type { Refusal } from '../shared/failure-table.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { bearer, isSuccess, optionalText, refusalError } from '../shared/http-outcome.ts';
import { UpstreamError, type HttpResponse, type ProviderContext } from '../provider.ts';

/** Sent as a header. The vendor rejects every call without it. */
const version = '2024-11-06';

interface RunwayRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: OutgoingObject;
}

export async function callRunway(
  { method, path, json }: RunwayRequest,
  context: ProviderContext,
): Promise<HttpResponse> {
  const answer = await context.request({
    method,
    url: context.baseUrl + path,
    headers: { ...bearer(context), 'x-runway-version': version },
    ...(json === undefined ? {} : { json }),
    signal: context.signal,
  });
  if (isSuccess(answer)) return answer;
  throw runwayRefusal(answer);
}

const quotaWaitMs = 3600 * 1000;

/**
 * A 429 means that the 24-hour quota of generations is exhausted, so waiting a few seconds would not help. A 503 does
 * not reveal whether a submission was accepted.
 */
function runwayRefusal(answer: HttpResponse): UpstreamError {
  const error = refusalError(answer, readRefusal(answer.json), runwayFailures);
  const { words, code, status, retryAfterMs, failure } = error;
  const options = defined({ code, status, retryAfterMs, failure });
  if (answer.status === 503)
    return new UpstreamError('ambiguous', words, { ...options, code, failure: { class: 'capacity' } });
  return error.outcome === 'throttled' && retryAfterMs === undefined
    ? new UpstreamError('throttled', words, { ...options, code, retryAfterMs: quotaWaitMs })
    : error;
}

const refusalSchema = z.object({
  error: z.string(),
  issues: z
    .array(z.object({ message: optionalText, path: z.array(z.union([z.string(), z.number()])).catch([]) }))
    .catch([]),
});

/** Reads `{"error","docUrl"?,"issues"?}`. A message about an asset starts with its field: `promptImage: …`. */
function readRefusal(json: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  if (said === undefined) return undefined;
  const [issue] = said.issues;
  const field = issue?.path.join('.') ?? /^`?(\w+(?:\[\d+\])?)`?: /.exec(said.error)?.[1];
  return defined({
    code: '',
    message: issue?.message === undefined ? said.error : `${said.error} ${issue.message}`,
    field: field === '' ? undefined : field,
  });
}
