import { createInterface } from 'node:readline';
import { request } from 'undici';
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { parseJson } from '../base/parse-json.ts';
import { CommandError } from './command-error.ts';
import type { Target } from './target.ts';

export type Row = Readonly<Record<string, unknown>>;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Query = Readonly<Record<string, string | undefined>>;

export interface AdminClient {
  /** Throws CommandError with the gateway's message, or with the reason why the gateway cannot be reached. */
  call(method: Method, path: string, body?: Row): Promise<Row>;
  linkTo(path: string): string;
  /** Performs a long operation. The gateway cancels it if this process exits. */
  follow(path: string, onProgress: (progress: Row) => void, body?: Row): Promise<Row>;
  read(path: string, query: Query, take: (bytes: Buffer) => Promise<void>): Promise<void>;
  list(path: string, query: Query): Promise<Page>;
  all(path: string, query: Query): AsyncIterable<Row>;
}

export interface Page {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Set only if `after` alone is not enough to request the next page. */
  readonly next?: string;
}

const timeoutMs = 60_000;
const readinessTimeoutMs = 10_000;
const row = z.record(z.string(), z.unknown());
const pageSchema = z.object({
  data: z.array(row),
  has_more: z.boolean().default(false),
  next_page: z.string().optional(),
});
const errorSchema = z.object({ error: z.object({ message: z.string(), code: z.string() }) });

const lastLineSchema = z.object({ result: row });
const progressSchema = z.object({ progress: row });

export function createAdminClient(target: Target): AdminClient {
  const { url } = target;

  async function call(method: Method, path: string, body?: Row): Promise<Row> {
    const { text, ...answered } = await reached(url, async () => {
      const { body: stream, ...answer } = await send(target, path, { method, body });
      return { ...answer, text: await stream.text() };
    });
    const answer = row.safeParse(parseJson(text));
    if (answered.status < 300 && answer.success) return answer.data;
    throw refusal(url, answer.data, answered);
  }

  async function follow(path: string, onProgress: (progress: Row) => void, sent?: Row): Promise<Row> {
    return reached(url, async () => {
      const { body, status, requestId } = await send(target, path, { method: 'POST', body: sent });
      let last: unknown;
      for await (const line of createInterface({ input: body })) {
        last = parseJson(line);
        const { data } = progressSchema.safeParse(last);
        if (data !== undefined) onProgress(data.progress);
      }
      const { data } = lastLineSchema.safeParse(last);
      if (data !== undefined) return data.result;
      // The operation failed after the response had started with a success status, so the failure is treated as a 500.
      throw refusal(url, last, { status: status < 300 ? 500 : status, requestId });
    });
  }

  async function read(path: string, query: Query, take: (bytes: Buffer) => Promise<void>): Promise<void> {
    return reached(url, async () => {
      const asked = { method: 'GET', body: undefined } as const;
      const { body, ...answered } = await send(target, withQuery(path, query), asked);
      if (answered.status >= 300) throw refusal(url, parseJson(await body.text()), answered);
      for await (const bytes of body) await take(z.instanceof(Buffer).parse(bytes));
    });
  }

  async function list(path: string, query: Query): Promise<Page> {
    const page = pageSchema.safeParse(await call('GET', withQuery(path, query)));
    if (!page.success)
      throw new CommandError('not_reachable', `The response of ${url} to ${path} is not a list.`);
    const { data: rows, has_more: hasMore, next_page: next } = page.data;
    return { rows, hasMore, ...defined({ next }) };
  }

  async function* all(path: string, query: Query): AsyncGenerator<Row> {
    let more: Query = {};
    for (let hasMore = true; hasMore;) {
      const page = await list(path, { ...query, ...more });
      yield* page.rows;
      ({ hasMore } = page);
      more = page.next === undefined ? { after: String(page.rows.at(-1)?.['id']) } : { page: page.next };
    }
  }

  return { call, linkTo: (path) => `${url.replace(/\/$/, '')}/${path}`, follow, read, list, all };
}

/** Requires no token. Throws CommandError if nothing responds. */
export async function readReadiness(url: string): Promise<{ status: number; body: unknown }> {
  return reached(url, async () => {
    const answer = await request(`${url}/readyz`, {
      headers: { 'user-agent': 'mediary-cli' },
      headersTimeout: readinessTimeoutMs,
      bodyTimeout: readinessTimeoutMs,
    });
    return { status: answer.statusCode, body: parseJson(await answer.body.text()) };
  });
}

function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

interface Sent {
  readonly method: Method;
  readonly body: Row | undefined;
}

async function send({ url, token }: Target, path: string, { method, body }: Sent) {
  const answer = await request(`${url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'user-agent': 'mediary-cli',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const requestId = answer.headers['x-request-id'];
  return { status: answer.statusCode, body: answer.body, requestId: String(requestId ?? '') };
}

async function reached<Answer>(url: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      'not_reachable',
      `The gateway does not respond at ${url} (${reasonOf(error)}). Is it running? Use --url to specify a different URL.`,
      { cause: error },
    );
  }
}

interface Answered {
  readonly status: number;
  readonly requestId: string;
}

function refusal(url: string, body: unknown, { status, requestId }: Answered): CommandError {
  const parsed = errorSchema.safeParse(body);
  if (!parsed.success)
    return new CommandError(
      'not_reachable',
      `${url} responded with ${status}, which is not a gateway response. Check --url.`,
    );
  const { message, code } = parsed.data.error;
  const words = explain(code, `${message} (${code}, request ${requestId})`);
  return new CommandError(endingOf(status, code), words, { code });
}

/** Also checks the error code, because an unknown model is a 400 rather than a 404. */
function endingOf(status: number, code: string) {
  if (status === 404 || code.endsWith('_not_found')) return 'not_found';
  if (status === 503) return 'not_reachable';
  return status < 500 ? 'refused' : 'failed';
}

function explain(code: string, message: string): string {
  if (code === 'invalid_api_key') return `${message} Check OPERATOR_TOKEN or ADMIN_TOKEN.`;
  if (code === 'route_not_found') return `${message} Does that gateway have an ADMIN_TOKEN?`;
  return message;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
