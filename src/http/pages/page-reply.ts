import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { matchesEtag } from '../etag.ts';
import { notModified, type Reply, type RequestMeta } from '../route.ts';
import type { PageFile } from './page-files.ts';

export const pageOperation = {
  tag: 'Service',
  method: 'get',
  input: z.object({}),
  headers: z.object({ 'if-none-match': z.string().optional() }),
  success: { description: 'The page.', mediaType: 'text/html' },
  otherAnswers: {
    304: { description: 'The version in `if-none-match` is still current.', mediaType: 'none' },
    308: { description: 'Redirects to the URL without the trailing slash.', mediaType: 'none' },
  },
} as const;

interface Concessions {
  readonly images?: string;
}

/**
 * The content security policy lets the page load only what this origin serves, and call only this gateway.
 * @param mediaUrl - The address of results, if they have a different origin.
 */
export function pagePolicy(mediaUrl?: string, { images = '' }: Concessions = {}): string {
  const media = mediaUrl === undefined ? "'self'" : `'self' ${new URL(mediaUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src ${`${media} ${images}`.trim()}`,
    `media-src ${media}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const yearSeconds = 365 * 24 * 60 * 60;

function movedTo(location: string): Reply {
  return { status: 308, headers: { location }, mediaType: 'text/plain' };
}

export function pageReply(
  file: PageFile | undefined,
  { meta, policy, isVersioned = false }: { meta: RequestMeta; policy?: string; isVersioned?: boolean },
): Reply {
  // Never send a page without its content security policy.
  if (file === undefined || (file.mediaType.startsWith('text/html') && policy === undefined))
    throw new GatewayError('route_not_found', 'There is no such file.');
  const [, last] = /([^/]+)\/$/.exec(meta.path) ?? [];
  // With a trailing slash, the page's relative URLs would resolve one level too deep.
  if (last !== undefined) return movedTo(`../${last}`);
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(meta.header('accept-encoding') ?? '');
  const etag = takesGzip ? file.etags.gzip : file.etags.identity;
  const headers = {
    ...safetyHeaders,
    ...(policy === undefined ? {} : { 'content-security-policy': policy }),
    etag,
    vary: 'accept-encoding',
    'cache-control': isVersioned ? `public, max-age=${yearSeconds}, immutable` : 'no-cache',
  };
  if (matchesEtag(meta.header('if-none-match'), etag)) return notModified(headers);
  return {
    status: 200,
    mediaType: file.mediaType,
    body: takesGzip ? file.gzipped : file.bytes,
    headers: takesGzip ? { ...headers, 'content-encoding': 'gzip' } : headers,
  };
}
