import { z } from 'zod';
import { falFailures } from './fal-failures.ts';
import { defined } from '../../base/defined.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import type { Refusal } from '../shared/failure-table.ts';
import { optionalText, refusalError } from '../shared/http-outcome.ts';
import type { UpstreamError, HttpRequestOptions, HttpResponse, ProviderContext } from '../provider.ts';

interface FalRequest {
  readonly method: HttpRequestOptions['method'];
  readonly url: string;
  readonly json?: OutgoingObject;
}

/** In bytes. Large enough for a history page with the inputs and outputs of a hundred requests. */
const bodyBytesMax = 16 * 1024 * 1024;

export async function callFal(request: FalRequest, context: ProviderContext): Promise<HttpResponse> {
  return context.request({
    ...request,
    headers: { authorization: `Key ${context.credential.apiKey}` },
    signal: context.signal,
    bodyBytesMax,
  });
}

export function falError(answer: HttpResponse): UpstreamError {
  return refusalError(answer, readFalRefusal(answer.json), falFailures);
}

/**
 * Returns true if fal does not know the request. Only fal's own format is trusted, because a proxy may respond with 404
 * too.
 */
export function isUnknown({ status, json }: HttpResponse): boolean {
  return status === 404 && readFalRefusal(json) !== undefined;
}

const itemSchema = z.object({
  loc: z.array(z.union([z.string(), z.number()])).catch([]),
  msg: optionalText,
  type: optionalText,
});
const refusalSchema = z.object({
  detail: z
    .union([z.string(), z.array(z.unknown())])
    .optional()
    .catch(undefined),
  error: optionalText,
  error_type: optionalText,
  status: optionalText,
});

/**
 * Reads `{"detail":[{"loc","msg","type"}]}` from a model, `{"detail","error_type"}` from the platform,
 * `{"error","error_type"}` from a status, or `{"status"}` from a cancellation.
 */
export function readFalRefusal(json: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  const { detail } = said ?? {};
  const item = Array.isArray(detail) ? itemSchema.safeParse(detail[0]).data : undefined;
  const text = typeof detail === 'string' && detail !== '' ? detail : undefined;
  const code = item?.type ?? said?.error_type;
  const message = item?.msg ?? text ?? said?.error ?? code ?? said?.status;
  if (message === undefined) return undefined;
  const [place, field] = item?.loc.filter((part) => typeof part === 'string') ?? [];
  return defined({ code: code ?? '', message, field: place === 'body' ? field : place });
}

/** The charge in the model's own unit. Only this header reports it. */
export function billedUnits({ headers }: Pick<HttpResponse, 'headers'>): string | undefined {
  return headers['x-fal-billable-units'];
}
