import { z } from 'zod';
import { klingFailures } from './kling-failures.ts';
import type { Refusal } from '../shared/failure-table.ts';
import { bearer, isSuccess, optionalText, refusalError } from '../shared/http-outcome.ts';
import { jsonWebToken } from '../shared/json-web-token.ts';
import { UpstreamError, type HttpResponse, type ProviderContext } from '../provider.ts';
import type { JsonObject } from '../../models/request.ts';

interface KlingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly json?: JsonObject;
}

export type KlingCall = (
  request: KlingRequest,
  context: ProviderContext,
) => Promise<{ readonly data: unknown; readonly requestId?: string; readonly answer: HttpResponse }>;

/** The vendor accepts a key pair only on these paths. */
const signedPaths = ['/v1/', '/account/'];
const listBodyBytesMax = 4 * 1024 * 1024;

/**
 * The credential is an API key, or `<access key>:<secret key>`, which signs requests of the legacy standard. If the
 * vendor rejects a signature as too early or too late, it has not accepted the request. The request is then signed
 * again by the vendor's clock and sent once more. `now` returns Unix milliseconds.
 */
export function createKlingCall(now: () => number): KlingCall {
  return async ({ method, path, json }, context) => {
    const send = (headers: { readonly authorization: string }): Promise<HttpResponse> =>
      context.request({
        method,
        url: context.baseUrl + path,
        headers,
        ...(json === undefined ? {} : { json }),
        signal: context.signal,
        bodyBytesMax: listBodyBytesMax,
      });
    const pair = readKeyPair(context.credential.apiKey);
    if (pair === undefined) return accepted(await send(bearer(context)));
    if (!signedPaths.some((prefix) => path.startsWith(prefix))) throw needsApiKey();
    const answer = await send(signed(pair, now()));
    const vendorNow = Date.parse(answer.headers['date'] ?? '');
    const retry = clockCodes.has(readRefusal(answer.json)?.code ?? '') && !Number.isNaN(vendorNow);
    return accepted(retry ? await send(signed(pair, vendorNow)) : answer);
  };
}

/** The vendor's codes for "not yet valid" and "expired". */
const clockCodes = new Set(['1003', '1004']);

interface KeyPair {
  readonly accessKey: string;
  readonly secretKey: string;
}

function readKeyPair(apiKey: string): KeyPair | undefined {
  const match = /^([^:]+):([^:]+)$/.exec(apiKey);
  return match === null ? undefined : { accessKey: match[1] ?? '', secretKey: match[2] ?? '' };
}

const lifetimeSeconds = 1800;

/** Returns the header of a request that is signed with the key pair. Source: the vendor's authentication page. */
function signed({ accessKey: issuer, secretKey: secret }: KeyPair, now: number): { authorization: string } {
  const token = jsonWebToken({ algorithm: 'HS256', issuer, secret, lifetimeSeconds, now });
  return { authorization: `Bearer ${token}` };
}

function needsApiKey(): UpstreamError {
  return new UpstreamError('unavailable', 'The model needs an API key. A key pair works only with /v1.', {
    code: 'api_key_needed',
    failure: { class: 'quota' },
  });
}

const envelopeSchema = z.object({ data: z.unknown(), request_id: optionalText });

/** Throws if the vendor rejected the request, which it sometimes does with status 200 and a code of its own. */
function accepted(answer: HttpResponse): Awaited<ReturnType<KlingCall>> {
  const refusal = readRefusal(answer.json);
  if (!isSuccess(answer) || refusal !== undefined) throw refusalError(answer, refusal, klingFailures);
  const { data, request_id: requestId } = envelopeSchema.safeParse(answer.json).data ?? {};
  return { data, answer, ...(requestId === undefined ? {} : { requestId }) };
}

const refusalSchema = z.object({
  code: z.union([z.number().int(), z.string().regex(/^\d+$/)]).transform(String),
  message: optionalText,
});

/** Reads `{"code":1302,"message","request_id"}`. Code 0 means success. */
function readRefusal(json: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  return said === undefined || said.code === '0'
    ? undefined
    : { code: said.code, message: said.message ?? '' };
}

/** The legacy standard reports an unknown job with 404. */
export function isUnknownJob(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.status === 404 && /^120[23]$/.test(error.code);
}
