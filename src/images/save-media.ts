import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GuardedClient } from '../http-client/index.ts';

export interface MediaToSave {
  readonly openMedia: GuardedClient['openMedia'];
  readonly url: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Streams what is at an address that a caller names into a file; its bytes. Throws GuardedRequestError. */
export async function saveMedia({ openMedia, ...fetch }: MediaToSave, path: string): Promise<number> {
  let bytes = 0;
  const media = await openMedia(fetch);
  await pipeline(Readable.from(media.body, { objectMode: false }), countBytes, createWriteStream(path));
  return bytes;

  async function* countBytes(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
  }
}
