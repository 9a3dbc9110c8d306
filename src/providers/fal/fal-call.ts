import { z } from 'zod';
import { falFailures } from './fal-failures.ts';
import { defined } from '../../base/defined.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import type { Refusal } from '../shared/failure-table.ts';
import { optionalText, refusalError } from '../shared/http-outcome.ts';
import type { UpstreamError } from '../provider.ts';
import type { HttpRequestOptions, HttpResponse, ProviderContext } from '../provider.ts';

interface FalRequest {
  readonly method: HttpRequestOptions['method'];
  readonly url: string;
  readonly json?: OutgoingObject;
}

/** Pages of the history hold the inputs and outputs of a hundred requests. */
const bodyBytesMax = 16 * 1024 * 1024;

/** One exchange with fal, whatever its status: that of a result is the model's own. */
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

/** The vendor says that it does not know the request; a page of a proxy says nothing. */
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
 * `{"detail":[{"loc","msg","type"}]}` of a model, `{"detail","error_type"}` of the platform, `{"error","error_type"}` of a
 * status, `{"status"}` of a cancellation.
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

/** What the model charged, in its unit: it stands in a header, and not in the body. */
export function billedUnits({ headers }: Pick<HttpResponse, 'headers'>): string | undefined {
  return headers['x-fal-billable-units'];
}
