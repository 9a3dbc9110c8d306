import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { bytes, type Reply, type WireRequest } from '../wire.ts';
import { tintCount } from './images.ts';
import { mediaTypes, renderMedium, type MediaFormat, type Medium } from './medium.ts';

export interface Link {
  readonly medium: Medium;
  readonly name: string;
  readonly issuedAt: number;
  readonly lifetimeSeconds: number;
  readonly faults: readonly string[];
}

export const mediaPrefix = '/media';
const cacheBytesMax = 64 * 1024 * 1024;
const sidePixelsMax = 16_384;
const pixelsMax = 20_000_000;
const bytesMax = 256 * 1024 * 1024;
const framesMax = 3600;
// This key need not be secret. It only ensures that an altered or invented link fails as it would at the provider, even
// after a restart.
const signingKey = 'simulator-media';
const pathPattern = /^\/(\d{1,5})x(\d{1,5})-(\d{1,4})-(\d)(m?)-(\d{1,9})\/[\w-]+\.(mp4|png|jpeg|webp)$/;

export class MediaShelf {
  readonly #cache = new LRUCache<string, Buffer>({
    maxSize: cacheBytesMax,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });

  link(origin: string, link: Link): string {
    const { medium } = link;
    const path = `/${keyOf(medium)}/${link.name}.${medium.format}`;
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

  /** Only GET is presigned. As at the provider, a HEAD of the same link is therefore rejected. */
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
    return ranged(this.render(medium), mediaTypes[medium.format], request.headers.range);
  }

  render(medium: Medium): Buffer {
    const key = `${medium.format} ${keyOf(medium)}`;
    const known = this.#cache.get(key) ?? renderMedium(medium);
    this.#cache.set(key, known);
    return known;
  }
}

function keyOf({ width, height, frames, tint, marked, bytes: size }: Medium): string {
  return `${width}x${height}-${frames}-${tint % tintCount}${marked ? 'm' : ''}-${size}`;
}

export function refused(code: 'SignatureDoesNotMatch' | 'AccessDenied'): Reply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Request has expired or is not signed.</Message></Error>`;
  return bytes(403, Buffer.from(body), { 'content-type': 'application/xml' });
}

function signature(path: string, query: URLSearchParams): string {
  return createHmac('sha256', signingKey).update(`${path}?${query.toString()}`).digest('hex');
}

function parseStamp(stamp: string): number {
  return Date.parse(stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function parsePath(path: string): Medium | undefined {
  const match = pathPattern.exec(path);
  if (match === null) return undefined;
  const [width = 0, height = 0, frames = 0, tint = 0] = match.slice(1, 5).map(Number);
  const size = Number(match[6]);
  if (width < 1 || height < 1 || width > sidePixelsMax || height > sidePixelsMax) return undefined;
  if (width * height > pixelsMax || frames > framesMax || size > bytesMax) return undefined;
  return { format: formatOf(match[7]), width, height, frames, tint, marked: match[5] === 'm', bytes: size };
}

function formatOf(extension: string | undefined): MediaFormat {
  return extension === 'png' || extension === 'jpeg' || extension === 'webp' ? extension : 'mp4';
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
