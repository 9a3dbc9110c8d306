import { z } from 'zod';
import { minimaxFailures } from './minimax-failures.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import type { Refusal } from '../shared/failure-table.ts';
import { isSuccess, optionalText, refusalError, unknownJob } from '../shared/http-outcome.ts';
import type { HttpRequestOptions, HttpResponse, ProviderContext, UpstreamError } from '../provider.ts';

interface MinimaxRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: OutgoingObject;
  readonly limits?: Pick<HttpRequestOptions, 'bodyBytesMax' | 'largeStrings'>;
}

export async function callMinimax(request: MinimaxRequest, context: ProviderContext): Promise<HttpResponse> {
  const { answer, refusal } = await exchange(request, context);
  if (isSuccess(answer) && refusal === undefined) return answer;
  throw refusalError(answer, refusal, minimaxFailures);
}

interface Exchanged {
  readonly answer: HttpResponse;
  readonly refusal: Refusal | undefined;
}

export async function exchange(
  { method, path, json, limits }: MinimaxRequest,
  context: ProviderContext,
): Promise<Exchanged> {
  const answer = await context.request({
    method,
    url: context.baseUrl + path,
    headers: { authorization: `Bearer ${readKey(context).key}` },
    ...(json === undefined ? {} : { json }),
    ...limits,
    signal: context.signal,
  });
  return { answer, refusal: readRefusal(answer.json) };
}

/** The credential is a key, or `<group id>:<key>` for accounts that need a group id to retrieve files. */
export function readKey({ credential }: Pick<ProviderContext, 'credential'>): {
  readonly key: string;
  readonly group?: string;
} {
  const [, group, key] = /^(\d+):(.+)$/.exec(credential.apiKey) ?? [];
  return group === undefined || key === undefined ? { key: credential.apiKey } : { key, group };
}

const code = z.union([z.number().int(), z.string().regex(/^\d+$/)]).transform(String);
const errorSchema = z.object({ error: z.object({ type: optionalText, message: optionalText }) });
const statusSchema = z.object({
  base_resp: z.object({ status_code: code, status_msg: optionalText }),
});

/**
 * v2 responds with `{"error":{"type","message":"… (2013)"}}`, where the code is in trailing parentheses. v1 responds
 * with `{"base_resp":{"status_code","status_msg"}}` and status 200.
 */
function readRefusal(json: unknown): Refusal | undefined {
  const error = errorSchema.safeParse(json).data?.error;
  if (error !== undefined) {
    const { type = '', message = '' } = error;
    return { code: /\((\d+)\)\s*$/.exec(message)?.[1] ?? type, message };
  }
  const said = statusSchema.safeParse(json).data?.base_resp;
  return said === undefined || said.status_code === '0'
    ? undefined
    : { code: said.status_code, message: said.status_msg ?? '' };
}

/** A rejected query may mean that the upstream no longer knows the job. */
export function jobError({ answer, refusal }: Exchanged): UpstreamError {
  const { code: said, message } = refusal ?? { code: '', message: '' };
  const isUnknown = said === '2013' && /task[_ ]?id|not (?:exist|found)/i.test(message);
  if (!isUnknown) return refusalError(answer, refusal, minimaxFailures);
  return unknownJob(answer.status, { code: said, message });
}
