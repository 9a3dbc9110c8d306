import { segment, encodeJpeg } from './jpeg.ts';
import { encodeMp4, paddingBox } from './mp4.ts';
import { createPicture } from './picture.ts';
import { encodePng, paddingChunk } from './png.ts';
import { encodeWebp } from './webp.ts';

/** A result file, described completely: the same description renders the same bytes. */
export interface Medium {
  readonly format: MediaFormat;
  readonly width: number;
  readonly height: number;
  /** Of a video; 0 for an image. */
  readonly frames: number;
  readonly tint: number;
  /** An image with the bar: the watermark, or the end of a video. */
  readonly marked: boolean;
  /** Padded to this size, for benchmarks; 0: as small as it is. WebP is never padded. */
  readonly bytes: number;
}

export type MediaFormat = 'mp4' | 'png' | 'jpeg' | 'webp';

export const mediaTypes: Readonly<Record<MediaFormat, string>> = {
  mp4: 'video/mp4',
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
};

const commentBytesMax = 65_533;

export function renderMedium(medium: Medium): Buffer {
  const picture = createPicture(medium.width, medium.height, medium.tint);
  const filled = medium.marked ? picture.columns : 0;
  switch (medium.format) {
    case 'mp4': {
      const file = encodeMp4(picture, medium.frames);
      return Buffer.concat([file, paddingBox(medium.bytes - file.length)]);
    }
    case 'png': {
      const file = encodePng(picture, filled);
      const end = file.length - 12;
      return Buffer.concat([
        file.subarray(0, end),
        paddingChunk(medium.bytes - file.length),
        file.subarray(end),
      ]);
    }
    case 'jpeg': {
      const file = encodeJpeg(picture, filled);
      return Buffer.concat([file.subarray(0, 2), comments(medium.bytes - file.length), file.subarray(2)]);
    }
    case 'webp':
      return encodeWebp(picture);
  }
}

/** JPEG comment segments of together about `length` bytes. */
function comments(length: number): Buffer {
  const parts: Buffer[] = [];
  const whole = segment(
    0xfe,
    Array.from({ length: commentBytesMax }, () => 0x20),
  );
  let left = length;
  for (; left >= whole.length; left -= whole.length) parts.push(whole);
  if (left >= 4)
    parts.push(
      segment(
        0xfe,
        Array.from({ length: left - 4 }, () => 0x20),
      ),
    );
  return Buffer.concat(parts);
}
