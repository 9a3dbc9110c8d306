import { z } from 'zod';
import { storedMediaTypes } from '../results/media-types.ts';
import type { ByteRange, ResultStorage, StoredFile } from '../results/storage.ts';
import { matchesEtag } from './etag.ts';
import { notModified, type Reply, type RequestMeta, type Route } from './route.ts';

const rangePattern = /^bytes=(\d*)-(\d*)$/;

/** Files come from upstreams, so a browser must not execute anything in them. */
const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
} as const;

export const fileAnswers = {
  headers: z.object({ range: z.string().optional(), 'if-none-match': z.string().optional() }),
  success: { description: 'The file.', mediaType: storedMediaTypes },
  otherAnswers: {
    302: {
      description: 'The storage serves the file itself, at `location`, for a limited time.',
      mediaType: 'none',
    },
    206: { description: 'The part of the file that `range` requests.', mediaType: storedMediaTypes },
    304: { description: 'The version in `if-none-match` is still current.', mediaType: 'none' },
    416: { description: '`range` is outside the file.', mediaType: 'text/plain' },
  },
} satisfies Pick<Route, 'headers' | 'success' | 'otherAnswers'>;

export interface FileAsked {
  readonly key: string;
  readonly mediaType: string;
  readonly maxAge: number;
  /** How long a redirect to the storage itself may stay valid. 0 means no redirect. */
  readonly directSeconds?: number;
}

/**
 * The maximum validity of a direct URL. It is long because a player requests an entire film from one URL, part by part.
 */
const directSecondsMax = 3_600;

type ReadableStorage = Pick<ResultStorage, 'stat' | 'read' | 'directAddress'>;

/** Redirects if the storage can serve the file directly. Returns undefined if the file no longer exists. */
export async function replyWithFile(
  { key, mediaType, maxAge, directSeconds = directSecondsMax }: FileAsked,
  meta: RequestMeta,
  storage: ReadableStorage,
): Promise<Reply | undefined> {
  const file = await storage.stat(key);
  if (file === undefined) return undefined;
  const headers = {
    ...safetyHeaders,
    etag: file.etag,
    'accept-ranges': 'bytes',
    'cache-control': `private, max-age=${maxAge}, immutable`,
  };
  if (matchesEtag(meta.header('if-none-match'), file.etag)) return notModified(headers);
  const seconds = Math.min(directSeconds, directSecondsMax);
  if (storage.directAddress !== undefined && seconds > 0) {
    const method = meta.isHead ? 'HEAD' : 'GET';
    return sendTo(await storage.directAddress(key, { method, seconds, mediaType }));
  }
  const range = rangeOf(meta, file);
  if (range === 'unsatisfiable') return refuseRange(file, headers);
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
  return {
    status: range === undefined ? 200 : 206,
    mediaType,
    body: await storage.read(key, { start, end }),
    headers: {
      ...headers,
      'content-length': String(end - start + 1),
      ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${file.bytes}` }),
    },
  };
}

function sendTo(location: string): Reply {
  const headers = { location, 'cache-control': 'no-store' };
  return { status: 302, mediaType: 'text/plain; charset=utf-8', headers };
}

/**
 * Returns undefined for the whole file, which RFC 9110 allows in response to multiple ranges, other units and invalid
 * values.
 */
function rangeOf(meta: RequestMeta, { bytes, etag }: StoredFile): ByteRange | 'unsatisfiable' | undefined {
  const match = rangePattern.exec(meta.header('range') ?? '');
  const condition = meta.header('if-range');
  if (match === null || (condition !== undefined && condition !== etag)) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (from !== '' && to !== '' && Number(to) < start) return undefined;
  return start > end ? 'unsatisfiable' : { start, end };
}

function refuseRange({ bytes }: StoredFile, headers: Readonly<Record<string, string>>): Reply {
  const mediaType = 'text/plain; charset=utf-8';
  return { status: 416, mediaType, headers: { ...headers, 'content-range': `bytes */${bytes}` } };
}
