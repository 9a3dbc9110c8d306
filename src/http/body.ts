import { isRecord } from '../base/is-record.ts';
import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { z } from 'zod';
import { GatewayError } from '../errors/errors.ts';
import type { BodyAllowance } from './bodies/body-budget.ts';
import { consumeBody } from './bodies/consume-body.ts';
import type { BodyReader } from './bodies/consume-body.ts';
import { findJsonFault } from './bodies/json-fault.ts';
import { JsonScanner } from '../intake/json-scanner.ts';
import { Slab } from './bodies/slab.ts';
import { withoutNulls } from './body-fields.ts';

const jsonBytesMax = 1024 * 1024;
const adminBodyBytesMax = 64 * 1024;
const callbackBytesMax = 64 * 1024;

/** A JSON object; no body at all counts as `{}`. */
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

const parseSmallJson = koaBody({
  jsonLimit: adminBodyBytesMax,
  text: false,
  urlencoded: false,
  multipart: false,
});

/** What operators send: so small, and behind their token, that nothing has to be counted while it arrives. */
export const adminBody: BodyReader = {
  mediaTypes: ['application/json'],
  kind: 'json',
  async read(context) {
    if (!hasBody(context)) return {};
    checkJsonType(context);
    try {
      await parseSmallJson(context, () => Promise.resolve());
    } catch (error) {
      throw adminBodyError(error);
    }
    const body: unknown = context.request.body;
    // The parser replaces what is not UTF-8 by U+FFFD.
    if (JSON.stringify(body).includes('\ufffd')) throw notUtf8();
    return jsonObject(body);
  },
};

/** The parser says what is wrong by a status, and hands back a text that it could not parse. */
const parseFailure = z.object({ status: z.number(), body: z.string().optional() });

function adminBodyError(error: unknown): unknown {
  const { status, body } = parseFailure.safeParse(error).data ?? {};
  if (status === 413) return textTooLarge(adminBodyBytesMax);
  return status === 400 ? notJson(body) : error;
}

/** The bytes as they arrived: what an upstream signs. */
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

/** A JSON text while it is read: counted before it is parsed. */
export class JsonText {
  private readonly bytesMax: number;
  private readonly scanner = new JsonScanner();
  private readonly bytes: Slab;

  constructor(bytesMax: number, memory: Pick<BodyAllowance, 'reserve'>) {
    this.bytesMax = bytesMax;
    this.bytes = new Slab(memory, bytesMax);
  }

  /** Throws request_too_large, and what the allowance throws. */
  push(piece: Uint8Array): void {
    if (this.bytes.bytes + piece.length > this.bytesMax) throw textTooLarge(this.bytesMax);
    this.scanner.scan(piece);
    this.bytes.push(piece);
  }

  /**
   * Fields that are null count as absent. Throws invalid_json for anything but an object in UTF-8, and for one that
   * carries a `__proto__`. `isWhole`: the caller sent the text as it is here, so that a place in it means something.
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

/** `mediaTypes`: all that this body may have. */
export function checkJsonType(context: Context, mediaTypes: readonly string[] = ['application/json']): void {
  if (context.is('application/json') !== false) return;
  throw new GatewayError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}.`);
}

/** Throws invalid_json: what is not UTF-8 would become another text. */
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

/** Such a key would reach the prototype of whatever the body is copied into. */
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
    `JSON may have at most ${bytesMax} bytes, without its images.`,
  );
}
