import { defined } from '../base/defined.ts';
import { afterRunning, timeLimit } from '../process/running-time.ts';
import { createAddressRules, type AddressRules } from './address-rules.ts';
import type { Lookup } from './lookup.ts';
import { GuardedRequestError, createAgent, exchange, requireReadable, type Answer } from './exchange.ts';
import type { Agent } from 'undici';

export interface GuardedClientOptions {
  readonly networks: readonly string[];
  readonly connectTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  readonly lookup?: Lookup;
}

export interface GuardedClient {
  checkAddress(url: string): string | undefined;
  /**
   * The text is JSON unless the headers state another type. Redirects are not followed, and the response body is
   * discarded.
   * @throws GuardedRequestError
   */
  deliver(delivery: Delivery): Promise<{ readonly status: number }>;
  openMedia(fetch: MediaFetch): Promise<OpenedMedia>;
  close(): Promise<void>;
}

interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * In milliseconds, from sending the request to the end of the response. Waiting for a connection has a separate limit
   * of the same length.
   */
  readonly timeoutMs: number;
}

export interface MediaFetch {
  readonly url: string;
  /** Sent only to the origin of `url`, never to another origin after a redirect. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** A server without range support sends the whole file. */
  readonly range?: { readonly start: number; /** Inclusive. */ readonly end: number };
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface OpenedMedia {
  readonly mediaType: string;
  readonly bytes: number | undefined;
  /** The size of the whole file in bytes. Set only if the server honoured the requested range. */
  readonly partOf?: number;
  /**
   * Read this to the end, or break out of the loop to close the connection.
   * @throws GuardedRequestError
   */
  readonly body: AsyncIterable<Uint8Array>;
}

const redirectsMax = 3;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const rules = createAddressRules(options.networks);
  const agent = createAgent({
    rules,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    headersTimeoutMs: 60_000,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 15_000,
    connectionsPerOrigin: 32,
    idleTimeoutMs: 1_000,
    ...defined({ lookup: options.lookup }),
  });
  return {
    checkAddress: (url) => rules.checkUrl(url),
    deliver: (delivery) => deliver(delivery, agent, rules),
    openMedia: (fetch) => openMedia(fetch, agent, rules),
    close: () => agent.destroy(),
  };
}

async function deliver(delivery: Delivery, agent: Agent, rules: AddressRules): Promise<{ status: number }> {
  requirePermitted(delivery.url, rules);
  const limit = startTimeLimit(delivery.timeoutMs);
  const answer = await exchange(agent, {
    method: 'POST',
    url: delivery.url,
    headers: { 'content-type': 'application/json', ...delivery.headers },
    body: delivery.body,
    signal: limit.signal,
    onSend: limit.restart,
  });
  answer.discard();
  return { status: answer.status };
}

function startTimeLimit(timeoutMs: number) {
  const controller = new AbortController();
  const expire = (): void => controller.abort(new DOMException('The time limit has passed.', 'TimeoutError'));
  let cancel = afterRunning(timeoutMs, expire);
  return {
    signal: controller.signal,
    restart: () => {
      cancel();
      cancel = afterRunning(timeoutMs, expire);
    },
  };
}

async function openMedia(fetch: MediaFetch, agent: Agent, rules: AddressRules): Promise<OpenedMedia> {
  const signal = fetchLimit(fetch);
  let url = fetch.url;
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    requirePermitted(url, rules);
    const own = new URL(url).origin === new URL(fetch.url).origin ? fetch.headers : undefined;
    const range = fetch.range && `bytes=${fetch.range.start}-${fetch.range.end}`;
    const headers = { ...own, accept: '*/*', ...defined({ range }) };
    const answer = await exchange(agent, { method: 'GET', url, headers, signal });
    if (!redirectStatuses.has(answer.status)) return describeMedia(answer, fetch);
    answer.discard();
    const { location } = answer.headers;
    if (location === undefined || !URL.canParse(location, url)) {
      const { status } = answer;
      throw new GuardedRequestError('bad_status', 'The redirect contains no address.', {
        sent: true,
        status,
      });
    }
    url = new URL(location, url).href;
  }
  throw new GuardedRequestError('too_many_redirects', `More than ${redirectsMax} redirects.`, { sent: true });
}

function describeMedia(answer: Answer, { maxBytes, range }: MediaFetch): OpenedMedia {
  const { status, headers } = answer;
  const partOf = status === 206 && range !== undefined ? fileBytesOf(headers, range.start) : undefined;
  if (status !== 200 && partOf === undefined) {
    answer.discard();
    const message = `The server responded with status ${status}.`;
    throw new GuardedRequestError('bad_status', message, { sent: true, status });
  }
  requireReadable(answer, maxBytes);
  const announced = headers['content-length'];
  const bytes = announced === undefined ? undefined : Number(announced);
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  return { mediaType, bytes, ...defined({ partOf }), body: answer.read(maxBytes) };
}

function fileBytesOf({ 'content-range': range = '' }: Answer['headers'], start: number): number | undefined {
  const [, from, total] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(range) ?? [];
  return Number(from) === start ? Number(total) : undefined;
}

function requirePermitted(url: string, rules: AddressRules): void {
  const issue = rules.checkUrl(url);
  if (issue !== undefined) throw new GuardedRequestError('address_refused', issue, { sent: false });
}

function fetchLimit({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }): AbortSignal {
  const timeout = timeLimit(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}
