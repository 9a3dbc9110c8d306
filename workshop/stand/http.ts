import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { z } from 'zod';

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

export interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

const answeredWithinMs = 60_000;
const repeatEveryMs = 500;

export async function ask(url: string, options: Ask = {}): Promise<Reply> {
  const { method = 'GET', token, body, headers = {}, timeoutMs = 20_000 } = options;
  const answer = await request(url, {
    method,
    headers: {
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: parse(text) };
}

export async function askFor<Shape>(schema: z.ZodType<Shape>, url: string, options?: Ask): Promise<Shape> {
  return parseReply(schema, url, await ask(url, options));
}

/**
 * Repeats the request if there is no response or the status is 503. Even a healthy server returns a 503 while it is
 * busy.
 */
export async function askUntilAnswered<Shape>(
  schema: z.ZodType<Shape>,
  url: string,
  options: Ask = {},
): Promise<Shape> {
  for (const endsAt = Date.now() + answeredWithinMs; ; await delay(repeatEveryMs)) {
    const answer = await ask(url, options).catch((error: unknown) => {
      if (Date.now() > endsAt) throw error;
    });
    if (answer === undefined || (answer.status === 503 && Date.now() < endsAt)) continue;
    return parseReply(schema, url, answer);
  }
}

function parseReply<Shape>(schema: z.ZodType<Shape>, url: string, { status, body }: Reply): Shape {
  if (status >= 300) throw new Error(`${url}: ${status} ${JSON.stringify(body)}`);
  return schema.parse(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
