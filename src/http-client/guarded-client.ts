import { defined } from '../base/defined.ts';
import { createAddressRules } from './address-rules.ts';
import type { AddressRules } from './address-rules.ts';
import type { Lookup } from './connector.ts';
import { GuardedRequestError, createAgent, exchange, requireReadable } from './exchange.ts';
import type { Answer } from './exchange.ts';
import type { Agent } from 'undici';

export interface GuardedClientOptions {
  /** Private networks that may be connected to. */
  readonly networks: readonly string[];
  readonly connectTimeoutMs?: number;
  /** Between two pieces of a body. */
  readonly bodyTimeoutMs?: number;
  readonly lookup?: Lookup;
}

/** Outbound HTTP to addresses that a caller or an upstream's answer named. */
export interface GuardedClient {
  /** Why the address is refused, as a sentence; undefined: it may be tried. Reads nothing but the URL. */
  checkAddress(url: string): string | undefined;
  /** POSTs a text, JSON unless its headers say otherwise; no redirect is followed, the answer's body is dropped. Throws GuardedRequestError. */
  deliver(delivery: Delivery): Promise<{ readonly status: number }>;
  /** GETs with at most 3 redirects, each checked like the first address. Throws GuardedRequestError. */
  openMedia(fetch: MediaFetch): Promise<OpenedMedia>;
  close(): Promise<void>;
}

interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the moment the request leaves, the body that is dropped included; as long again for the connection before. */
  readonly timeoutMs: number;
}

export interface MediaFetch {
  readonly url: string;
  /** Sent to the origin of `url` only: a redirect elsewhere goes without them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** The bytes that are asked for; a server that knows no ranges sends all of them. */
  readonly range?: { readonly start: number; /** Inclusive. */ readonly end: number };
  /** For the whole exchange, redirects and body included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface OpenedMedia {
  /** Lower case, without parameters; empty if the server named none. */
  readonly mediaType: string;
  /** As announced; the body may still be shorter or break. */
  readonly bytes: number | undefined;
  /** Of the whole file, where the body is the range that was asked for, or as much of it as there is. */
  readonly partOf?: number;
  /** Throws GuardedRequestError. Must be read to its end or left early (`break`), else the connection stays open. */
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

/** A receiver answers for its own time only, not for that which the request waits for a connection. */
function startTimeLimit(timeoutMs: number) {
  const controller = new AbortController();
  const expire = (): void => controller.abort(new DOMException('The time limit has passed.', 'TimeoutError'));
  let timer = setTimeout(expire, timeoutMs).unref();
  return {
    signal: controller.signal,
    restart: () => {
      clearTimeout(timer);
      timer = setTimeout(expire, timeoutMs).unref();
    },
  };
}

async function openMedia(fetch: MediaFetch, agent: Agent, rules: AddressRules): Promise<OpenedMedia> {
  const signal = timeLimit(fetch);
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
      throw new GuardedRequestError('bad_status', 'The redirect names no address.', { sent: true, status });
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
    const message = `The server answered with status ${status}.`;
    throw new GuardedRequestError('bad_status', message, { sent: true, status });
  }
  requireReadable(answer, maxBytes);
  const announced = headers['content-length'];
  const bytes = announced === undefined ? undefined : Number(announced);
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  return { mediaType, bytes, ...defined({ partOf }), body: answer.read(maxBytes) };
}

/** Undefined: it is not the part that begins there, or the server does not know of how much. */
function fileBytesOf({ 'content-range': range = '' }: Answer['headers'], start: number): number | undefined {
  const [, from, total] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(range) ?? [];
  return Number(from) === start ? Number(total) : undefined;
}

function requirePermitted(url: string, rules: AddressRules): void {
  const issue = rules.checkUrl(url);
  if (issue !== undefined) throw new GuardedRequestError('address_refused', issue, { sent: false });
}

function timeLimit({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}
