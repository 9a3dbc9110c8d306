import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';

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

/** Either a normal response, that of a hostile peer, or none. */
export type Reply =
  | ({ readonly kind: 'send' } & Content)
  /** Sends the body a few bytes at a time, spread over this duration. */
  | ({ readonly kind: 'trickle'; readonly durationMs: number } & Content)
  /** Pads the body with white space to this total size and sends no content-length. */
  | ({ readonly kind: 'flood'; readonly totalBytes: number } & Content)
  /** Does not respond, and resets the connection after the delay. */
  | { readonly kind: 'drop'; readonly afterMs: number };

export abstract class WireError extends Error {
  abstract reply(now: number): Reply;
}

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

type RefusalForm = (refusal: Refusal, now: number) => Reply;

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

export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return bytes(status, Buffer.alloc(0), headers);
}

/** @throws {WireError} `refusal`, for anything but a positive integer. */
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

export function parseJson(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}

export async function readForm({ headers, body }: WireRequest): Promise<FormData | undefined> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type)) return undefined;
  return new Response(Uint8Array.from(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
}

export function textsOf(form: FormData): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of form) if (typeof value === 'string') texts[name] = value;
  return texts;
}

export interface Mistake {
  readonly field: string;
  readonly path: string;
  readonly reason: string;
  readonly isAbsent: boolean;
}

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
