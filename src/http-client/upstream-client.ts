import { defined } from '../base/defined.ts';
import { parseJson } from '../base/parse-json.ts';
import { connectionsPerOriginMax } from '../base/upstream-connections.ts';
import { UpstreamError } from '../providers/provider.ts';
import type { HttpRequest, HttpRequestOptions, HttpResponse } from '../providers/provider.ts';
import { createLargeJsonReader } from '../providers/shared/large-json.ts';
import { createEventStreamReader } from './event-stream.ts';
import { createAddressRules } from './address-rules.ts';
import type { Lookup } from './lookup.ts';
import { GuardedRequestError, createAgent, exchange, requireReadable } from './exchange.ts';
import type { Answer, ExchangeOptions } from './exchange.ts';
import { encodeForm, encodeJson } from './request-body.ts';

export interface UpstreamClientOptions {
  readonly networks: readonly string[];
  /** In milliseconds, for DNS and TCP combined, and again for TLS. */
  readonly connectTimeoutMs?: number;
  /** In milliseconds. Usually, the request's own signal ends the wait earlier. */
  readonly headersTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  readonly connectionsPerOrigin?: number;
  readonly idleTimeoutMs?: number;
  readonly lookup?: Lookup;
}

export type UpstreamClient = HttpRequest & { close(): Promise<void> };

const bodyBytesMaxDefault = 1024 * 1024;

/**
 * Keeps connections to each origin open. Never decodes content encodings, follows redirects or retries. Throws only
 * UpstreamError: `not_sent` before the first byte has left, `ambiguous` afterwards.
 */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const agent = createAgent({
    rules: createAddressRules(options.networks),
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 900_000,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 30_000,
    connectionsPerOrigin: options.connectionsPerOrigin ?? connectionsPerOriginMax,
    idleTimeoutMs: options.idleTimeoutMs ?? 4_000,
    ...defined({ lookup: options.lookup }),
  });
  const request: HttpRequest = async (asked) => {
    try {
      const answer = await exchange(agent, await encodeRequest(asked));
      return await readAnswer(answer, asked);
    } catch (error) {
      throw asUpstreamError(error);
    }
  };
  return Object.assign(request, { close: () => agent.destroy() });
}

async function encodeRequest(asked: HttpRequestOptions): Promise<ExchangeOptions> {
  const { method, url, signal } = asked;
  const accept = asked.onEvent === undefined ? 'application/json' : 'text/event-stream, application/json';
  const headers = { accept, ...asked.headers };
  // While an image renders, long pauses between events are normal. The caller's signal ends the wait.
  const timing = asked.onEvent === undefined ? {} : { bodyTimeoutMs: 0 };
  if (asked.form === undefined && asked.json === undefined)
    return { method, url, signal, headers, ...timing };
  const encoded = asked.form === undefined ? await encodeJson(asked.json ?? {}) : encodeForm(asked.form);
  return { method, url, signal, headers: { ...headers, ...encoded.headers }, body: encoded.body, ...timing };
}

async function readAnswer(
  answer: Answer,
  { bodyBytesMax: maxBytes = bodyBytesMaxDefault, largeStrings = false, onEvent }: HttpRequestOptions,
): Promise<HttpResponse> {
  const { status, headers } = answer;
  requireReadable(answer, maxBytes);
  const chunks: Uint8Array[] = [];
  if (onEvent !== undefined && headers['content-type']?.startsWith('text/event-stream') === true) {
    const events = createEventStreamReader(onEvent);
    for await (const chunk of answer.read(maxBytes)) events.push(chunk);
    return { status, headers, text: '', json: undefined };
  }
  if (largeStrings) {
    const reader = createLargeJsonReader();
    for await (const chunk of answer.read(maxBytes)) reader.push(chunk);
    return { status, headers, text: '', json: reader.finish() };
  }
  for await (const chunk of answer.read(maxBytes)) chunks.push(chunk);
  return lazyResponse(status, headers, Buffer.concat(chunks));
}

/** Decodes the body only on demand, so that a body with 20 MB of base64 is not in memory twice. */
function lazyResponse(status: number, headers: HttpResponse['headers'], body: Buffer): HttpResponse {
  let parsed: { readonly value: unknown } | undefined;
  return {
    status,
    headers,
    get text() {
      return body.toString('utf8');
    },
    get json() {
      parsed ??= { value: parseJson(body.toString('utf8')) };
      return parsed.value;
    },
  };
}

function asUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (!(error instanceof GuardedRequestError)) {
    return new UpstreamError('not_sent', 'The request could not be prepared.', {
      code: 'invalid_request',
      cause: error,
    });
  }
  return new UpstreamError(error.sent ? 'ambiguous' : 'not_sent', error.message, {
    code: error.code,
    cause: error,
    ...defined({ status: error.status }),
  });
}
