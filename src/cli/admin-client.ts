import { request } from 'undici';
import { z } from 'zod';
import { defined } from '../domain/defined.ts';
import { CommandError } from './command-error.ts';
import type { Target } from './target.ts';

/** An object of the operators' API, unchanged. */
export type Row = Readonly<Record<string, unknown>>;

export interface AdminClient {
  /** Throws CommandError with the gateway's own words, or why it could not be reached. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Row): Promise<Row>;
  /** The rows of a list, and whether there are more. */
  list(path: string, query: Readonly<Record<string, string | undefined>>): Promise<Page>;
}

export interface Page {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Names the next page, where `after` does not. */
  readonly next?: string;
}

const timeoutMs = 60_000;
const row = z.record(z.string(), z.unknown());
const pageSchema = z.object({
  data: z.array(row),
  has_more: z.boolean().default(false),
  next_page: z.string().optional(),
});
const errorSchema = z.object({ error: z.object({ message: z.string(), code: z.string() }) });

export function createAdminClient({ url, token }: Target): AdminClient {
  async function call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Row): Promise<Row> {
    const { status, text, requestId } = await send(method, path, body);
    const answer = row.safeParse(parseJson(text));
    if (status < 300 && answer.success) return answer.data;
    const parsed = errorSchema.safeParse(answer.data);
    if (!parsed.success)
      throw new CommandError(
        'not_reachable',
        `${url} answered ${status}, which is not a gateway response. Check --url.`,
      );
    const { message, code } = parsed.data.error;
    throw new CommandError(endingOf(status), explain(code, `${message} (${code}, request ${requestId})`), {
      code,
    });
  }

  async function send(method: 'GET' | 'POST' | 'DELETE', path: string, body: Row | undefined) {
    try {
      const answer = await request(`${url}/admin/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const requestId = answer.headers['x-request-id'];
      return {
        status: answer.statusCode,
        text: await answer.body.text(),
        requestId: String(requestId ?? ''),
      };
    } catch (error) {
      throw new CommandError(
        'not_reachable',
        `The gateway does not answer at ${url} (${reasonOf(error)}). Is it running? --url names another.`,
        { cause: error },
      );
    }
  }

  return {
    call,
    async list(path, query) {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
      const text = parameters.toString();
      const page = pageSchema.safeParse(await call('GET', text === '' ? path : `${path}?${text}`));
      if (!page.success)
        throw new CommandError('not_reachable', `${url} answered ${path} with something that is not a list.`);
      const { data: rows, has_more: hasMore, next_page: next } = page.data;
      return { rows, hasMore, ...defined({ next }) };
    },
  };
}

function endingOf(status: number) {
  if (status === 404) return 'not_found';
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
