import { defined } from '../../../base/defined.ts';
import { canonicalJson } from '../../../base/canonical-json.ts';
import type { Authentication, RecordedExchange } from '../../../models/vendor-file.ts';
import { UpstreamError } from '../../provider.ts';
import type { HttpRequestOptions, HttpResponse, ProviderContext, SubmitContext } from '../../provider.ts';

/** Plays the role of the vendor, with the responses recorded in a vendor file. Nothing leaves the process. */

export type DoubleAnswer = RecordedExchange['answer'] | 'lost' | 'not_sent';

export interface Double {
  readonly context: SubmitContext;
  readonly sent: readonly SentRequest[];
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const baseUrl = 'https://vendor.invalid/base';
export const testKey = 'test-key:test-secret';
export const testMarker = 'mediary-fixture-1';
const testCallback = 'https://gateway.invalid/callbacks/fixture';

export interface DoubleOptions {
  readonly model: string;
  readonly authentication: Authentication;
  /** One response per request. After that, the response to every further request is lost. */
  readonly answers: readonly DoubleAnswer[];
}

export function createDouble({ model, authentication, answers }: DoubleOptions): Double {
  const sent: SentRequest[] = [];
  const request = async (options: HttpRequestOptions): Promise<HttpResponse> => {
    sent.push(await sentRequest(options, authentication));
    const answer = answers[sent.length - 1] ?? 'lost';
    if (answer === 'not_sent') throw new UpstreamError('not_sent', 'Nothing was sent.', { code: 'connect' });
    if (answer === 'lost')
      throw new UpstreamError('ambiguous', 'The response was lost.', { code: 'connection_lost' });
    return responseOf(answer);
  };
  return { sent, context: { ...contextOf(model), request } };
}

function contextOf(model: string): Omit<SubmitContext, 'request'> {
  return {
    credential: { id: 'fixture', apiKey: testKey },
    baseUrl,
    model,
    signal: new AbortController().signal,
    marker: testMarker,
    remainingSeconds: 600,
    callbackUrl: testCallback,
  } satisfies Omit<ProviderContext, 'request'> & Omit<SubmitContext, 'request'>;
}

function responseOf({ status, headers, json, text }: RecordedExchange['answer']): HttpResponse {
  const lowered = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const body = text ?? (json === undefined ? '' : JSON.stringify(json));
  // Each reader gets its own copy.
  return { status, headers: lowered, text: body, json: json === undefined ? undefined : JSON.parse(body) };
}

async function sentRequest(
  { method, url, headers = {}, json, form }: HttpRequestOptions,
  authentication: Authentication,
): Promise<SentRequest> {
  const address = new URL(url);
  if ('query' in authentication) address.searchParams.delete(authentication.query);
  const path = address.href.startsWith(`${baseUrl}/`) ? address.href.slice(baseUrl.length) : address.href;
  const body: unknown = json === undefined ? undefined : JSON.parse(JSON.stringify(json));
  return defined({
    method,
    path,
    json: body,
    form: form === undefined ? undefined : await fieldsOf(form),
    url,
    headers,
  });
}

async function fieldsOf(form: FormData): Promise<Readonly<Record<string, unknown>>> {
  const fields = new Map<string, unknown[]>();
  for (const [name, value] of form) {
    // oxlint-disable-next-line no-await-in-loop -- parts keep their order
    const shown =
      typeof value === 'string' ? value : { file: Buffer.from(await value.arrayBuffer()).toString('base64') };
    fields.set(name, [...(fields.get(name) ?? []), shown]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

export function differenceOf(sent: SentRequest, { send }: RecordedExchange): string | undefined {
  const names = ['method', 'path', 'json', 'form'] as const;
  const name = names.find((each) => canonicalJson(sent[each] ?? null) !== canonicalJson(send[each] ?? null));
  if (name === undefined) return undefined;
  return `sent ${name} ${shown(sent[name])}instead of ${shown(send[name])}`;
}

const shownCharactersMax = 300;

export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : canonicalJson(value);
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text;
}
