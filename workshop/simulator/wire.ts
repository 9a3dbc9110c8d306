import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';

/** One request as a dialect sees it: the path without the dialect's prefix, the body complete. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What goes back: an answer, an answer as a hostile peer would send it, or none. */
export type Reply =
  | ({ readonly kind: 'send' } & Content)
  /** The body takes this long, a few bytes at a time. */
  | ({ readonly kind: 'trickle'; readonly durationMs: number } & Content)
  /** The body is followed by white space up to this size, without a content-length. */
  | ({ readonly kind: 'flood'; readonly totalBytes: number } & Content)
  /** No answer: the connection is reset after the delay. */
  | { readonly kind: 'drop'; readonly afterMs: number };

/** A refusal in a dialect's own words: thrown wherever it is noticed, written where the request is answered. */
export abstract class WireError extends Error {
  /** `now` in milliseconds since 1970. */
  abstract reply(now: number): Reply;
}

/** A refusal of the form that most vendors have: a status, a code, a sentence, and often the field that it is about. */
export class Refusal extends WireError {
  readonly status: number;
  readonly code: string | number;
  readonly param: string;
  readonly #write: RefusalForm;

  constructor(write: RefusalForm, facts: Pick<Refusal, 'status' | 'code' | 'param' | 'message'>) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
    this.#write = write;
  }

  reply(now: number): Reply {
    return this.#write(this, now);
  }
}

/** How one vendor writes a refusal. */
type RefusalForm = (refusal: Refusal, now: number) => Reply;

/** One vendor's refusals: for its table of problems, and wherever a handler notices one. */
export function refusals(write: RefusalForm) {
  return (status: number, code: string | number, message: string, param = ''): Refusal =>
    new Refusal(write, { status, code, message, param });
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    kind: 'send',
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

export function bytes(status: number, body: Buffer, headers: Readonly<Record<string, string>>): Reply {
  return { kind: 'send', status, headers, body };
}

/** An answer without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return bytes(status, Buffer.alloc(0), headers);
}

/** A whole number from 1 on in a query. @throws {WireError} `refusal`, for anything else. */
export function pageNumber(
  query: URLSearchParams,
  name: string,
  ifAbsent: number,
  refusal: WireError,
): number {
  const value = Number(query.get(name) ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1) throw refusal;
  return value;
}

/** undefined when the body is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}

/** undefined when the content type is not multipart/form-data, or the body is not what it says. */
export async function readForm({ headers, body }: WireRequest): Promise<FormData | undefined> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type)) return undefined;
  return new Response(Uint8Array.from(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
}

/** The text fields of a form; of repeated ones the last. */
export function textsOf(form: FormData): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of form) if (typeof value === 'string') texts[name] = value;
  return texts;
}

/** What is wrong with a body, for the dialect to put in its own words. */
export interface Mistake {
  /** The top-level field. */
  readonly field: string;
  readonly path: string;
  readonly reason: string;
  readonly isAbsent: boolean;
}

/** Checks a body; the first mistake is thrown as `refuse` words it. */
export function check<Output>(
  schema: z.ZodType<Output>,
  body: unknown,
  refuse: (mistake: Mistake) => WireError,
): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const field = String(path[0] ?? 'body');
  const isAbsent = typeof body === 'object' && body !== null && Reflect.get(body, field) === undefined;
  throw refuse({ field, path: path.join('.'), reason: issue?.message ?? 'not valid', isAbsent });
}

export function bearerToken(request: WireRequest): string | undefined {
  const match = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '');
  return match?.[1];
}
