import { hash } from 'node:crypto';

export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** RFC 9110 requires a weak comparison for `if-none-match`. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
