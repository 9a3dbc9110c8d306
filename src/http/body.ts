import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { z } from 'zod';
import { GatewayError } from '../domain/errors.ts';
import { consumeBody } from './bodies/consume-body.ts';
import { JsonScanner } from './bodies/json-scanner.ts';
import { isRecord, withoutNulls } from './body-fields.ts';
import type { BodyReader } from './route.ts';

export const videoBodyBytesMax = 1024 * 1024;
const adminBodyBytesMax = 64 * 1024;
export const callbackBodyBytesMax = 64 * 1024;

/** A JSON object of at most `bytesMax` bytes; no body at all counts as `{}`. */
export function jsonBody(bytesMax: number): BodyReader {
  return {
    mediaTypes: ['application/json'],
    async read(context, scope) {
      if (!hasBody(context)) return {};
      checkJsonType(context);
      const text = new JsonText(bytesMax);
      await consumeBody(context.req, {
        ...scope,
        bytesMax,
        onChunk: (chunk) => {
          text.push(chunk);
          return undefined;
        },
      });
      return text.parse();
    },
  };
}

const parseSmallJson = koaBody({
  jsonLimit: adminBodyBytesMax,
  text: false,
  urlencoded: false,
  multipart: false,
});

/** What operators send: so small, and behind their token, that nothing has to be counted while it arrives. */
export const adminBody: BodyReader = {
  mediaTypes: ['application/json'],
  async read(context) {
    if (!hasBody(context)) return {};
    checkJsonType(context);
    try {
      await parseSmallJson(context, () => Promise.resolve());
    } catch (error) {
      throw adminBodyError(error);
    }
    const body: unknown = context.request.body;
    return jsonObject(body);
  },
};

/** The parser says what is wrong by a status. */
const parseFailure = z.object({ status: z.number() });

function adminBodyError(error: unknown): unknown {
  const status = parseFailure.safeParse(error).data?.status;
  if (status === 413) return textTooLarge(adminBodyBytesMax);
  return status === 400 ? notJson() : error;
}

/** The bytes as they arrived: what an upstream signs. */
export function rawBody(bytesMax: number): BodyReader {
  return {
    mediaTypes: ['application/json'],
    async read({ req }, scope) {
      const chunks: Buffer[] = [];
      await consumeBody(req, {
        ...scope,
        bytesMax,
        onChunk: (chunk) => {
          chunks.push(chunk);
          return undefined;
        },
      });
      return Buffer.concat(chunks);
    },
  };
}

/** A JSON text while it is read: counted before it is parsed. */
export class JsonText {
  private readonly bytesMax: number;
  private readonly scanner = new JsonScanner();
  private readonly pieces: Uint8Array[] = [];
  private bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Throws request_too_large. */
  push(piece: Uint8Array): void {
    this.bytes += piece.length;
    if (this.bytes > this.bytesMax) throw textTooLarge(this.bytesMax);
    this.scanner.scan(piece);
    this.pieces.push(piece);
  }

  /**
   * Fields that are null count as absent. Throws invalid_json for anything but an object, and for one that carries a
   * `__proto__`.
   */
  parse(): Record<string, unknown> {
    return jsonObject(parseJson(Buffer.concat(this.pieces).toString('utf8')));
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

export function checkJsonType(context: Context): void {
  if (context.is('application/json') !== false) return;
  throw new GatewayError('unsupported_media_type', 'Send the body as application/json.');
}

function parseJson(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return body;
  } catch {
    throw notJson();
  }
}

/** Such a key would reach the prototype of whatever the body is copied into. */
function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value).some(hasPrototypeKey);
}

function notJson(): GatewayError {
  return new GatewayError('invalid_json', 'The body is not valid JSON.');
}

function textTooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    'request_too_large',
    `JSON may have at most ${bytesMax} bytes, without its images.`,
  );
}
