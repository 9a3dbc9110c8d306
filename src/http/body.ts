import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { GatewayError } from '../domain/errors.ts';
import type { BodyReader } from './route.ts';

export const videoBodyBytesMax = 1024 * 1024;
export const adminBodyBytesMax = 64 * 1024;
export const callbackBodyBytesMax = 64 * 1024;

/** A JSON object of at most `bytesMax` bytes; no body at all counts as `{}`. */
export function jsonBody(bytesMax: number): BodyReader {
  const parse = koaBody({
    jsonLimit: bytesMax,
    text: false,
    urlencoded: false,
    multipart: false,
    patchNode: false,
    onError: (error) => {
      throw bodyError(error, bytesMax);
    },
  });
  return {
    mediaTypes: ['application/json'],
    async read(context) {
      if (!hasBody(context)) return {};
      if (context.is('application/json') === false) {
        throw new GatewayError('unsupported_media_type', 'Send the body as application/json.');
      }
      checkAnnouncedLength(context, bytesMax);
      await parse(context, () => Promise.resolve());
      const body: unknown = context.request.body;
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        throw new GatewayError('invalid_json', 'The body must be a JSON object.');
      }
      return body;
    },
  };
}

/** The bytes as they came: what an upstream signs. */
export function rawBody(bytesMax: number): BodyReader {
  return {
    mediaTypes: ['application/json'],
    async read(context) {
      checkAnnouncedLength(context, bytesMax);
      return collect(context.req, bytesMax);
    },
  };
}

/** Leaves the stream open on overflow, so that the refusal still reaches the sender; what follows is thrown away. */
function collect(stream: Readable, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else reject(tooLarge(bytesMax));
    });
    stream.once('end', () => resolve(Buffer.concat(chunks)));
    stream.once('error', reject);
    stream.once('close', () => reject(new GatewayError('invalid_json', 'The body was cut off.')));
  });
}

function hasBody({ req }: Context): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Refuses before the first byte is read. */
function checkAnnouncedLength({ req }: Context, bytesMax: number): void {
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', `The body may have at most ${bytesMax} bytes.`);
}

/** The parser's errors carry an HTTP status: 413 over the limit, 400 for a body that is cut off or no JSON. */
function bodyError(error: Error, bytesMax: number): GatewayError {
  const status = 'status' in error ? error.status : undefined;
  if (status === 413) return tooLarge(bytesMax);
  if (status === 400) return new GatewayError('invalid_json', 'The body is not valid JSON.');
  throw error;
}
