import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { whileRoom } from '../errors/not-stored.ts';
import type { GuardedClient } from '../http-client/index.ts';

export interface MediaToSave {
  readonly openMedia: GuardedClient['openMedia'];
  readonly url: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly reserve?: (bytes: number) => void;
}

export async function saveMedia(
  { openMedia, reserve, ...fetch }: MediaToSave,
  path: string,
): Promise<number> {
  let bytes = 0;
  const media = await openMedia(fetch);
  const body = Readable.from(media.body, { objectMode: false });
  await whileRoom(pipeline(body, countBytes, createWriteStream(path)));
  return bytes;

  async function* countBytes(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      reserve?.(chunk.length);
      bytes += chunk.length;
      yield chunk;
    }
  }
}
