import { defined } from '../base/defined.ts';
import { escaped } from '../base/plain-text.ts';
import { UpstreamError } from '../providers/provider.ts';
import type {
  HttpRequestOptions,
  HttpResponse,
  Operation,
  OperationStatus,
  Submitted,
} from '../providers/provider.ts';
import type { CallOutcome, CallStep, RecordedCall, RecordedExchange } from './recorded-call.ts';
import { hashOf, holdsSecret, redactJson, redactText, redactUrl, type Hidden } from './redact.ts';

/** Calls are described after they end, so that the description does not slow them down. */

const shapeCharactersMax = 3_000;
const bodyCharactersMax = 4_000;
const exchangesMax = 8;
const headersMax = 10;

export interface RawExchange {
  readonly asked: HttpRequestOptions;
  readonly at: number;
  readonly ms: number;
  readonly response?: HttpResponse;
  readonly error?: unknown;
}

export interface RawCall {
  readonly step: CallStep;
  readonly at: number;
  readonly ms: number;
  readonly channel: string;
  readonly credential: string;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly operation?: Operation;
  readonly marker?: string;
  /** The period in which the lost request was sent, in Unix milliseconds. Set only for `find`. */
  readonly sent?: readonly [number, number];
  readonly remainingSeconds?: number;
  readonly callback?: boolean;
  readonly skipped?: number;
  readonly exchanges: readonly RawExchange[];
  readonly outcome: CallOutcome;
  readonly hidden: Hidden;
}

export function describeCall(call: RawCall): RecordedCall {
  const { baseUrl, remainingSeconds, exchanges, hidden, sent, ...facts } = call;
  // Many tasks share a list, so each record keeps only its own task's job.
  const isShared = call.step === 'list' || call.step === 'find';
  const own = isShared ? ownWords(call) : undefined;
  return {
    ...facts,
    at: call.at / 1000,
    base_url: redactUrl(baseUrl, hidden).replace(/\/$/, ''),
    ...defined({
      remaining_seconds: remainingSeconds,
      sent_after: sent === undefined ? undefined : sent[0] / 1000,
      sent_before: sent === undefined ? undefined : sent[1] / 1000,
    }),
    exchanges: exchanges.slice(0, exchangesMax).map((exchange) => describeExchange(exchange, hidden, own)),
  };
}

function ownWords({ operation, marker, outcome }: RawCall): ReadonlySet<string> {
  const found =
    outcome.kind === 'found' ? outcome.operations.flatMap(({ id }) => (id === undefined ? [] : [id])) : [];
  return new Set([
    ...found,
    ...(operation === undefined ? [] : [operation.id]),
    ...(marker === undefined ? [] : [marker]),
  ]);
}

function describeExchange(
  { asked, at, ms, response, error }: RawExchange,
  hidden: Hidden,
  own: ReadonlySet<string> | undefined,
): RecordedExchange {
  return {
    method: asked.method,
    url: redactUrl(asked.url, hidden),
    at: at / 1000,
    ms,
    ...defined({ shape: shapeOf(asked, hidden) }),
    ...(response === undefined ? {} : describeResponse(response, hidden, own)),
    ...(error instanceof UpstreamError
      ? { failure: { outcome: error.outcome === 'not_sent' ? 'not_sent' : 'ambiguous', code: error.code } }
      : {}),
    ...(error instanceof UpstreamError ? defined({ status: error.status }) : {}),
  };
}

function shapeOf(asked: Pick<HttpRequestOptions, 'json' | 'form'>, hidden: Hidden): string | undefined {
  const body = asked.form === undefined ? asked.json : formFields(asked.form);
  if (body === undefined) return undefined;
  const shape = JSON.stringify(redactJson(body, hidden));
  return shape.length <= shapeCharactersMax
    ? shape
    : JSON.stringify(`[${shape.length} characters ${hashOf(shape)}]`);
}

function formFields(form: FormData): Record<string, string> {
  return Object.fromEntries(
    [...form].map(([name, value]) => [name, typeof value === 'string' ? value : '[data]']),
  );
}

function describeResponse(
  response: HttpResponse,
  hidden: Hidden,
  own: ReadonlySet<string> | undefined,
): Pick<RecordedExchange, 'status' | 'headers' | 'bytes' | 'hash' | 'body' | 'json'> {
  const { status, text, json } = response;
  const headers = keptHeaders(response.headers, hidden);
  const size = text === '' ? {} : { bytes: Buffer.byteLength(text), hash: hashOf(text) };
  if (json === undefined) return { status, headers, ...size, json: false, body: redactText(text, hidden) };
  const body = JSON.stringify(redactJson(own === undefined ? json : ownParts(json, own), hidden));
  return { status, headers, ...size, json: true, ...(body.length <= bodyCharactersMax ? { body } : {}) };
}

const plainHeaders = new Set(['date', 'retry-after', 'retry-after-ms', 'content-type']);
const secretHeader = /key|token|auth|cookie|secret|sign/i;

function keptHeaders(headers: HttpResponse['headers'], hidden: Hidden): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value.length > 100 || secretHeader.test(name)) return [];
    if (holdsSecret(name, hidden) || holdsSecret(value, hidden)) return [];
    if (plainHeaders.has(name)) return [[name, escaped(value, { keepLines: false })]];
    return name.startsWith('x-') ? [[name, redactText(value, hidden)]] : [];
  });
  return Object.fromEntries(kept.slice(0, headersMax));
}

function ownParts(value: unknown, own: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    return value.some(isObject) ? value.filter((item) => mentions(item, own)) : value;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, ownParts(item, own)]));
}

function mentions(value: unknown, own: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return own.has(value);
  return isObject(value) && Object.values(value).some((item) => mentions(item, own));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

export function acceptedOutcome({ operation }: Submitted): CallOutcome {
  return { kind: 'accepted', operation };
}

export function foundOutcome(jobs: readonly Submitted[]): CallOutcome {
  return { kind: 'found', operations: jobs.slice(0, 20).map(({ operation }) => operation) };
}

export function statusOutcome(status: OperationStatus): CallOutcome {
  switch (status.state) {
    case 'pending':
      return { kind: 'pending', phase: status.phase, ...defined({ progress: status.progress }) };
    case 'succeeded':
      return {
        kind: 'succeeded',
        items: status.items.length,
        facts: status.facts,
        ...defined({ cost: status.cost }),
      };
    case 'failed': {
      const { code, failure, unbilled = false, cost } = status;
      return { kind: 'failed', code, class: failure.class, unbilled, ...defined({ cost }) };
    }
    default:
      return status satisfies never;
  }
}

export function errorOutcome(error: unknown): CallOutcome {
  if (!(error instanceof UpstreamError)) {
    return { kind: 'crashed', message: error instanceof Error ? error.name : 'unknown' };
  }
  const { outcome, code, status, failure, gone } = error;
  return { kind: 'error', outcome, code, class: failure.class, gone, ...defined({ status }) };
}
