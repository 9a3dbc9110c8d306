import type { GuardedClient } from '../http-client/index.ts';
import type { MediaLinks } from '../results/media-links.ts';
import { mediaTypeOf } from '../results/media-types.ts';
import type { ResultStorage } from '../results/storage.ts';

export interface OwnMedia {
  readonly links: Pick<MediaLinks, 'read'>;
  readonly storage: Pick<ResultStorage, 'stat' | 'read'>;
}

/**
 * Media behind our own valid links are read directly from storage, because the gateway may not be able to reach its own
 * public URL.
 */
export function createOpenOwnMedia(
  own: OwnMedia | undefined,
  client: Pick<GuardedClient, 'openMedia'>,
): GuardedClient['openMedia'] {
  if (own === undefined) return (fetch) => client.openMedia(fetch);
  const { links, storage } = own;
  return async (fetch) => {
    const found = links.read(fetch.url);
    const key = found === undefined ? undefined : `${found.task}/${found.name}`;
    const file = key === undefined ? undefined : await storage.stat(key);
    const isFetched = found === undefined || key === undefined || file === undefined;
    if (isFetched || file.bytes === 0) return client.openMedia(fetch);
    const last = file.bytes - 1;
    const { start, end } = fetch.range ?? { start: 0, end: last };
    // The client rejects a range that is too large or outside the file with the same error as for any other URL.
    if (start > last || Math.min(end, last) - start >= fetch.maxBytes) return client.openMedia(fetch);
    const body = await storage.read(key, { start, end: Math.min(end, last) });
    const mediaType = mediaTypeOf(found.name) ?? '';
    return fetch.range === undefined
      ? { mediaType, bytes: file.bytes, body }
      : { mediaType, bytes: Math.min(end, last) - start + 1, partOf: file.bytes, body };
  };
}
