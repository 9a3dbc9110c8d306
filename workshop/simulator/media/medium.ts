import { clipOf, framesPerSecond, paddingBox } from './clips.ts';
import { encodeJpeg, encodePng, encodeWebp, paddingChunk, segment, type Picture } from './images.ts';

/** Describes a result file completely, so the same description yields the same bytes. */
export interface Medium extends Picture {
  readonly format: MediaFormat;
  readonly frames: number;
  /** The size to which benchmarks pad files. 0 means the smallest possible file. WebP is never padded. */
  readonly bytes: number;
}

export type MediaFormat = 'mp4' | 'png' | 'jpeg' | 'webp';

export const mediaTypes: Readonly<Record<MediaFormat, string>> = {
  mp4: 'video/mp4',
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
};

/** Two bytes for the marker, and up to 65,535 bytes for the length and the body. */
const segmentBytesMax = 65_537;

export function renderMedium(medium: Medium): Buffer {
  if (medium.format === 'mp4') {
    const { width, height, frames } = medium;
    const clip = clipOf({ width, height, seconds: Math.max(1, frames) / framesPerSecond });
    return Buffer.concat([clip, paddingBox(medium.bytes - clip.length)]);
  }
  if (medium.format === 'webp') return encodeWebp(medium);
  if (medium.format === 'jpeg') {
    const file = encodeJpeg(medium);
    return spliced(file, 2, comments(medium.bytes - file.length));
  }
  const file = encodePng(medium);
  return spliced(file, file.length - 12, paddingChunk(medium.bytes - file.length));
}

function spliced(file: Buffer, at: number, padding: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, at), padding, file.subarray(at)]);
}

function comments(length: number): Buffer {
  const parts: Buffer[] = [];
  for (let left = length; left >= 4; left -= segmentBytesMax) {
    parts.push(segment(0xfe, Buffer.alloc(Math.min(left, segmentBytesMax) - 4, ' ')));
  }
  return Buffer.concat(parts);
}
