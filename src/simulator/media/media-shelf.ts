import { createHmac } from 'node:crypto';
import { bytes } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import { MediaCache } from './media-cache.ts';
import { encodeMp4 } from './mp4.ts';
import { createPicture, tintCount } from './picture.ts';
import { encodePng } from './png.ts';

/** What stands behind a result URL; everything needed to render it is in the URL itself. */
export interface Medium {
  readonly format: 'mp4' | 'png';
  readonly width: number;
  readonly height: number;
  /** Of a video; 0 for an image. */
  readonly frames: number;
  readonly tint: number;
}

export interface Link {
  readonly medium: Medium;
  /** File name without extension. */
  readonly name: string;
  readonly issuedAt: number;
  readonly lifetimeSeconds: number;
  /** Faults of the media exchange, as written. */
  readonly faults: readonly string[];
}

export const mediaPrefix = '/media';
const cacheBytesMax = 64 * 1024 * 1024;
const sidePixelsMax = 8192;
const framesMax = 3600;
// Not a secret: it only makes a tampered or invented link fail as it would at the provider, over restarts too.
const signingKey = 'simulator-media';
const pathPattern = /^\/([0-9]{1,4})x([0-9]{1,4})-([0-9]{1,4})-([0-9])\/[\w-]+\.(mp4|png)$/;

/** Result files behind presigned-looking links: rendered when they are asked for, refused when they are expired. */
export class MediaShelf {
  readonly #cache = new MediaCache(cacheBytesMax);

  link(origin: string, link: Link): string {
    const { medium } = link;
    const path = `/${medium.width}x${medium.height}-${medium.frames}-${medium.tint % tintCount}/${link.name}.${medium.format}`;
    const query = new URLSearchParams({
      'X-Tos-Algorithm': 'TOS4-HMAC-SHA256',
      'X-Tos-Date': new Date(link.issuedAt).toISOString().replaceAll(/[-:]|\.\d+/g, ''),
      'X-Tos-Expires': String(link.lifetimeSeconds),
      'X-Tos-SignedHeaders': 'host',
    });
    if (link.faults.length > 0) query.set('x-simulate', link.faults.join(','));
    query.set('X-Tos-Signature', signature(path, query));
    return `${origin}${mediaPrefix}${path}?${query.toString()}`;
  }

  /** Only GET is presigned: a HEAD of the same link is refused, as at the provider. */
  serve(request: WireRequest, now: number): Reply {
    const signed = new URLSearchParams(request.query);
    const given = signed.get('X-Tos-Signature') ?? '';
    signed.delete('X-Tos-Signature');
    if (request.method !== 'GET' || given !== signature(request.path, signed))
      return refused('SignatureDoesNotMatch');
    const issuedAt = parseStamp(signed.get('X-Tos-Date') ?? '');
    const expiresAt = issuedAt + Number(signed.get('X-Tos-Expires')) * 1000;
    if (!(now < expiresAt)) return refused('AccessDenied');
    const medium = parsePath(request.path);
    if (medium === undefined) return refused('AccessDenied');
    return ranged(
      this.render(medium),
      medium.format === 'mp4' ? 'video/mp4' : 'image/png',
      request.headers.range,
    );
  }

  render(medium: Medium): Buffer {
    const { format, width, height, frames, tint } = medium;
    return this.#cache.get(`${format} ${width} ${height} ${frames} ${tint % tintCount}`, () => {
      const picture = createPicture(width, height, tint);
      return format === 'mp4' ? encodeMp4(picture, frames) : encodePng(picture);
    });
  }
}

export function refused(code: 'SignatureDoesNotMatch' | 'AccessDenied'): Reply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Request has expired or is not signed.</Message></Error>`;
  return bytes(403, Buffer.from(body), { 'content-type': 'application/xml' });
}

function signature(path: string, query: URLSearchParams): string {
  return createHmac('sha256', signingKey).update(`${path}?${query.toString()}`).digest('hex');
}

/** `20260514T183217Z` → milliseconds. */
function parseStamp(stamp: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stamp);
  if (match === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
}

function parsePath(path: string): Medium | undefined {
  const match = pathPattern.exec(path);
  if (match === null) return undefined;
  const [width = 0, height = 0, frames = 0, tint = 0] = match.slice(1, 5).map(Number);
  const format = match[5] === 'mp4' ? 'mp4' : 'png';
  if (width < 1 || height < 1 || width > sidePixelsMax || height > sidePixelsMax || frames > framesMax)
    return undefined;
  return { format, width, height, frames, tint };
}

function ranged(file: Buffer, type: string, range: string | undefined): Reply {
  const headers = { 'content-type': type, 'accept-ranges': 'bytes' };
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return bytes(200, file, headers);
  const suffix = match[1] === '';
  const from = suffix ? Math.max(0, file.length - Number(match[2])) : Number(match[1]);
  const to = suffix || match[2] === '' ? file.length - 1 : Math.min(file.length - 1, Number(match[2]));
  if (from > to) return bytes(416, Buffer.alloc(0), { 'content-range': `bytes */${file.length}` });
  return bytes(206, file.subarray(from, to + 1), {
    ...headers,
    'content-range': `bytes ${from}-${to}/${file.length}`,
  });
}
