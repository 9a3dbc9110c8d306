import type { GuardedClient } from '../http-client/index.ts';
import type { MediaSource } from './media-source.ts';

export interface RemoteSourceOptions {
  readonly openMedia: GuardedClient['openMedia'];
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Each request reads at least this much. In most files, the first bytes show where the boxes or tables are. */
const blockBytes = 64 * 1024;
const requestsMax = 64;

export async function openRemoteSource(url: string, options: RemoteSourceOptions): Promise<MediaSource> {
  const { openMedia, bytesMax, timeoutMs, signal } = options;
  let requests = 0;
  const fetch = async (start: number, end: number) => {
    requests += 1;
    if (requests > requestsMax) throw new RangeError('reading the file would take too many requests');
    const range = { start, end: end - 1 };
    const media = await openMedia({ url, range, maxBytes: bytesMax, timeoutMs, signal });
    return { bytes: await readAll(media.body), partOf: media.partOf };
  };
  const first = await fetch(0, blockBytes);
  const fileBytes = first.partOf ?? first.bytes.length;
  return {
    bytes: fileBytes,
    async read(start, end) {
      if (end <= first.bytes.length || first.partOf === undefined) return first.bytes.subarray(start, end);
      const part = await fetch(start, Math.min(fileBytes, Math.max(end, start + blockBytes)));
      if (part.partOf !== fileBytes) throw new RangeError('the file changed while it was being read');
      return part.bytes.subarray(0, end - start);
    },
  };
}

export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
