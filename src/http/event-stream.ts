import { Readable } from 'node:stream';
import type { BodyPart, Reply } from './route.ts';

export const eventStreamType = 'text/event-stream';

/** Server-sent events, as they come. */
export function eventStream(
  parts: AsyncIterable<BodyPart> | Iterable<BodyPart>,
  headers: Readonly<Record<string, string>>,
): Reply {
  return {
    status: 200,
    headers: {
      ...headers,
      'cache-control': 'no-cache',
      // Some proxies gather what they pass on.
      'x-accel-buffering': 'no',
    },
    mediaType: eventStreamType,
    body: Readable.from(parts, { objectMode: false }),
  };
}
