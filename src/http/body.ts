import { isRecord } from '../base/is-record.ts';
import { once } from '../base/once.ts';
import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { z } from 'zod';
import { GatewayError } from '../errors/errors.ts';
import type { BodyAllowance } from './bodies/body-budget.ts';
import { consumeBody, type BodyReader } from './bodies/consume-body.ts';
import { findJsonFault } from './bodies/json-fault.ts';
import { JsonScanner } from '../intake/json-scanner.ts';
import { Slab } from './bodies/slab.ts';
import { withoutNulls } from './body-fields.ts';

const jsonBytesMax = 1024 * 1024;
const adminBodyBytesMax = 64 * 1024;
const callbackBytesMax = 64 * 1024;

export const jsonBody: BodyReader = {
  mediaTypes: ['application/json'],
  kind: 'json',
  async read(context, scope) {
    if (!hasBody(context)) return {};
    checkJsonType(context);
    const text = new JsonText(jsonBytesMax, scope.memory);
    await consumeBody(context.req, {
      ...scope,
      bytesMax: jsonBytesMax,
      onChunk: (chunk) => text.push(chunk),
    });
    return text.parse();
  },
};

/** A process without operators does not need the parser's 21 MB of code, so it is imported on first use. */
const loadParser = once(async () => {
  const { koaBody } = await import('koa-body');
  return koaBody({ jsonLimit: adminBodyBytesMax, text: false, urlencoded: false, multipart: false });
});

/** Operators have already presented a token, so no limits apply while a body arrives. */
export const adminBody: BodyReader = {
  mediaTypes: ['application/json'],
  kind: 'json',
  async read(context) {
    if (!hasBody(context)) return {};
    checkJsonType(context);
    try {
      const parse = await loadParser();
      await parse(context, () => Promise.resolve());
    } catch (error) {
      throw adminBodyError(error);
    }
    const body: unknown = context.request.body;
    // The parser replaces invalid UTF-8 with U+FFFD, so reject a body that contains it.
    if (JSON.stringify(body).includes('\ufffd')) throw notUtf8();
    return jsonObject(body);
  },
};

const parseFailure = z.object({ status: z.number(), body: z.string().optional() });

function adminBodyError(error: unknown): unknown {
  const { status, body } = parseFailure.safeParse(error).data ?? {};
  if (status === 413) return textTooLarge(adminBodyBytesMax);
  return status === 400 ? notJson(body) : error;
}

/** Upstreams sign the bytes, so they are kept exactly as they arrived. */
export const callbackBody: BodyReader = {
  mediaTypes: ['application/json'],
  kind: 'callbacks',
  async read({ req }, scope) {
    const bytes = new Slab(scope.memory, callbackBytesMax);
    await consumeBody(req, {
      ...scope,
      bytesMax: callbackBytesMax,
      onChunk: (chunk) => bytes.push(chunk),
    });
    return bytes.read();
  },
};

export class JsonText {
  private readonly bytesMax: number;
  private readonly scanner = new JsonScanner();
  private readonly bytes: Slab;

  constructor(bytesMax: number, memory: Pick<BodyAllowance, 'reserve'>) {
    this.bytesMax = bytesMax;
    this.bytes = new Slab(memory, bytesMax);
  }

  push(piece: Uint8Array): void {
    if (this.bytes.bytes + piece.length > this.bytesMax) throw textTooLarge(this.bytesMax);
    this.scanner.scan(piece);
    this.bytes.push(piece);
  }

  /**
   * Treats null fields as missing. Throws invalid_json for anything but a JSON object in UTF-8, and for an object that
   * contains `__proto__`. Pass `isWhole` if the text is exactly what the caller sent, so that errors can state a
   * position.
   */
  parse(isWhole = true): Record<string, unknown> {
    return jsonObject(parseJson(readUtf8(this.bytes.read()), isWhole));
  }
}

function jsonObject(body: unknown): Record<string, unknown> {
  if (!isRecord(body)) throw new GatewayError('invalid_json', 'The body must be a JSON object.');
  if (hasPrototypeKey(body)) throw notJson();
  return withoutNulls(body);
}

export function hasBody({ req }: Context): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

export function checkJsonType(context: Context, mediaTypes: readonly string[] = ['application/json']): void {
  if (context.is('application/json') !== false) return;
  throw new GatewayError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}.`);
}

/** Throws invalid_json for invalid UTF-8, because decoding it would change the bytes. */
export function readUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw notUtf8();
}

function notUtf8(): GatewayError {
  return new GatewayError('invalid_json', 'The body is not valid UTF-8.');
}

function parseJson(text: string, isWhole: boolean): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return body;
  } catch {
    throw notJson(isWhole ? text : undefined);
  }
}

/** Copying a value with a `__proto__` key to an object would change that object's prototype. */
function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value).some(hasPrototypeKey);
}

function notJson(text?: string): GatewayError {
  const fault = text === undefined ? undefined : findJsonFault(text);
  if (fault === undefined) return new GatewayError('invalid_json', 'The body is not valid JSON.');
  const { line, column, isCutOff } = fault;
  return new GatewayError(
    'invalid_json',
    isCutOff
      ? `The body is not valid JSON: it ends at line ${line}, column ${column}, before it is complete.`
      : `The body is not valid JSON at line ${line}, column ${column}.`,
  );
}

function textTooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    'request_too_large',
    `JSON must not exceed ${bytesMax} bytes, not counting its images.`,
  );
}
