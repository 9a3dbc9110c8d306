import { Readable } from 'node:stream';
import type { BodyPart, Reply } from './route.ts';

export const eventStreamType = 'text/event-stream';

export function eventStream(
  parts: AsyncIterable<BodyPart> | Iterable<BodyPart>,
  headers: Readonly<Record<string, string>>,
): Reply {
  return {
    status: 200,
    headers: {
      ...headers,
      'cache-control': 'no-cache',
      // Stops some proxies from buffering the response.
      'x-accel-buffering': 'no',
    },
    mediaType: eventStreamType,
    body: Readable.from(parts, { objectMode: false }),
  };
}
