import { hash } from 'node:crypto';

/** A strong validator of an answer's body. */
export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** Whether `if-none-match` names this version; weak validators match too, as its definition says. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
