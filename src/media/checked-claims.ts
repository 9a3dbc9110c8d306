import type { MediaSource } from './media-source.ts';

const trunFlags = 0x000f05;

/**
 * A box of only 28 bytes in an MP4 file can claim millions of samples, each of which would cost time and memory. Reads
 * from this source reject if the file's tables claim more samples than the file has bytes. The thread's limits catch
 * anything that this check misses.
 */
export function checkedClaims(source: MediaSource): MediaSource {
  const { bytes } = source;
  const seen = new Set<number>();
  let samples = 0;
  return {
    bytes,
    async read(start, end) {
      const data = await source.read(start, end);
      const block = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      for (const { at, count } of [
        ...claimsOf(block, 'trun', runClaim),
        ...claimsOf(block, 'stsz', sizeClaim),
      ]) {
        if (seen.has(start + at)) continue;
        seen.add(start + at);
        samples += count;
        if (samples > bytes) throw new RangeError('the file claims more samples than it has bytes');
      }
      return data;
    },
  };
}

interface Claim {
  readonly at: number;
  readonly count: number;
}

function* claimsOf(
  block: Buffer,
  name: string,
  countAt: (block: Buffer, at: number) => number,
): Generator<Claim> {
  for (let at = block.indexOf(name, 0, 'latin1'); at !== -1; at = block.indexOf(name, at + 4, 'latin1')) {
    if (at >= 4 && at + 16 <= block.length) yield { at, count: countAt(block, at) };
  }
}

/** Image data can contain the box name by chance. The flags then differ, and the claim is ignored. */
function runClaim(block: Buffer, at: number): number {
  const versionAndFlags = block.readUInt32BE(at + 4);
  const isRun = versionAndFlags >>> 24 <= 1 && (versionAndFlags & 0xffffff & ~trunFlags) === 0;
  return isRun ? block.readUInt32BE(at + 8) : 0;
}

/** Samples of equal size need no table, so a small box can claim any number of them. */
function sizeClaim(block: Buffer, at: number): number {
  return block.readUInt32BE(at + 4) === 0 && block.readUInt32BE(at + 8) > 0 ? block.readUInt32BE(at + 12) : 0;
}
