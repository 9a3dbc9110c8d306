import { createHmac, timingSafeEqual } from 'node:crypto';
import type { MediaUrl } from '../models/stored-media.ts';

/** Links to stored files: `PUBLIC_URL/media/<task>/<name>?expires=<Unix seconds>&sig=<HMAC>`. */
export interface MediaLinks {
  readonly url: MediaUrl;
  until(task: string, name: string, expiresAt: number): string;
  /** Changes our own links so that they never redirect, because some upstreams do not follow redirects. */
  forUpstream(url: string): string;
  read(url: string): Pick<ClaimedLink, 'task' | 'name'> | undefined;
  /** Runs in constant time. */
  isValid(link: ClaimedLink): boolean;
}

export interface ClaimedLink {
  readonly task: string;
  readonly name: string;
  readonly expires: string;
  readonly sig: string;
}

export interface MediaLinksOptions {
  readonly key: Uint8Array;
  readonly publicUrl: string;
  readonly ttlSeconds: number;
  readonly retentionSeconds: number;
  readonly now: () => number;
}

export function createMediaLinks(options: MediaLinksOptions): MediaLinks {
  const { ttlSeconds, retentionSeconds, publicUrl } = options;
  const sign = (task: string, name: string, expires: string): Buffer =>
    createHmac('sha256', options.key).update(`${task}/${name}?${expires}`).digest();
  const nowSeconds = (): number => Math.floor(options.now() / 1000);
  const until: MediaLinks['until'] = (task, name, expiresAt) => {
    const sig = sign(task, name, String(expiresAt)).toString('base64url');
    return `${publicUrl}/media/${task}/${name}?expires=${expiresAt}&sig=${sig}`;
  };
  const isValid: MediaLinks['isValid'] = ({ task, name, expires, sig }) => {
    const expected = sign(task, name, expires);
    const given = Buffer.from(sig, 'base64url');
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    return isOurs && Number(expires) > nowSeconds();
  };
  const read: MediaLinks['read'] = (url) => {
    const prefix = `${publicUrl}/media/`;
    const found = url.startsWith(prefix) ? linkPattern.exec(url.slice(prefix.length)) : null;
    const [, task = '', name = '', expires = '', sig = ''] = found ?? [];
    return found !== null && isValid({ task, name, expires, sig }) ? { task, name } : undefined;
  };
  return {
    until,
    isValid,
    read,
    forUpstream: (url) => (read(url) === undefined || url.endsWith(throughUs) ? url : `${url}${throughUs}`),
    url(task, name, storedAt) {
      // Links change only once per window, so that a task's body and ETag stay the same. A link is valid for one to two
      // windows.
      const window = Math.floor(nowSeconds() / ttlSeconds);
      const expiresAt = Math.min((window + 2) * ttlSeconds, storedAt + retentionSeconds);
      if (expiresAt <= nowSeconds()) return undefined;
      return { url: until(task, name, expiresAt), expiresAt };
    },
  };
}

/** Not covered by the signature, because it affects only how the same bytes are delivered. */
const throughUs = '&via=gateway';
const linkPattern = /^(\w{1,80})\/([\w.-]{1,40})\?expires=(\d{1,12})&sig=([\w-]{1,80})(?:&via=gateway)?$/;
