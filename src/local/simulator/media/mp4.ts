import { framesPerSecond, encodeH264 } from './h264.ts';
import type { H264Stream } from './h264.ts';
import type { Picture } from './picture.ts';

/** Units per second of every duration in the file; a multiple of the frame rate, so each is exact. */
const timescale = 12288;
const unitsPerFrame = timescale / framesPerSecond;

/** A playable MP4 (moov before mdat, so that it starts while it downloads) of `frameCount` frames at 24 a second. */
export function encodeMp4(picture: Picture, frameCount: number): Buffer {
  const stream = encodeH264(picture, frameCount);
  const fileType = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'));
  // The chunk offset is the length of what stands before it, and its own value does not change that length.
  const draft = movieBox(picture, stream, 0);
  const movie = movieBox(picture, stream, fileType.length + draft.length + 8);
  return Buffer.concat([
    fileType,
    movie,
    box('mdat', ...stream.frames.flatMap((frame) => [u32(frame.length), frame])),
  ]);
}

/** A box that players skip, of `length` bytes; nothing when that is too few. */
export function paddingBox(length: number): Buffer {
  return length < 8 ? Buffer.alloc(0) : box('free', Buffer.alloc(length - 8));
}

function movieBox(picture: Picture, stream: H264Stream, chunkOffset: number): Buffer {
  const duration = stream.frames.length * unitsPerFrame;
  const movieHeader = fullBox(
    'mvhd',
    [u32(0), u32(0), u32(timescale), u32(duration), u32(0x10000), u16(0x100), Buffer.alloc(10)],
    [unityMatrix, Buffer.alloc(24), u32(2)],
  );
  const trackHeader = fullBoxWithFlags(
    'tkhd',
    3,
    [u32(0), u32(0), u32(1), u32(0), u32(duration), Buffer.alloc(16), unityMatrix],
    [u32(picture.width * 65536), u32(picture.height * 65536)],
  );
  const mediaHeader = fullBox('mdhd', [u32(0), u32(0), u32(timescale), u32(duration), u16(0x55c4), u16(0)]);
  const handler = fullBox('hdlr', [
    u32(0),
    Buffer.from('vide'),
    Buffer.alloc(12),
    Buffer.from('VideoHandler\0'),
  ]);
  const dataReference = box('dinf', fullBox('dref', [u32(1), fullBoxWithFlags('url ', 1, [])]));
  const information = box(
    'minf',
    fullBoxWithFlags('vmhd', 1, [Buffer.alloc(8)]),
    dataReference,
    sampleTable(picture, stream, chunkOffset),
  );
  return box('moov', movieHeader, box('trak', trackHeader, box('mdia', mediaHeader, handler, information)));
}

function sampleTable(picture: Picture, stream: H264Stream, chunkOffset: number): Buffer {
  const count = stream.frames.length;
  const sizes = Buffer.allocUnsafe(count * 4);
  for (const [index, frame] of stream.frames.entries()) sizes.writeUInt32BE(frame.length + 4, index * 4);
  return box(
    'stbl',
    fullBox('stsd', [u32(1), sampleEntry(picture, stream)]),
    fullBox('stts', [u32(1), u32(count), u32(unitsPerFrame)]),
    fullBox('stss', [u32(1), u32(1)]),
    fullBox('stsc', [u32(1), u32(1), u32(count), u32(1)]),
    fullBox('stsz', [u32(0), u32(count), sizes]),
    fullBox('stco', [u32(1), u32(chunkOffset)]),
  );
}

function sampleEntry(picture: Picture, { sps, pps }: H264Stream): Buffer {
  const configuration = box(
    'avcC',
    Buffer.from([1, sps[1] ?? 0, sps[2] ?? 0, sps[3] ?? 0, 0xff, 0xe1]),
    u16(sps.length),
    sps,
    Buffer.from([1]),
    u16(pps.length),
    pps,
  );
  return box(
    'avc1',
    Buffer.concat([Buffer.alloc(6), u16(1), Buffer.alloc(16), u16(picture.width), u16(picture.height)]),
    Buffer.concat([u32(0x480000), u32(0x480000), u32(0), u16(1), Buffer.alloc(32), u16(24), u16(0xffff)]),
    configuration,
  );
}

const unityMatrix = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(length), Buffer.from(type, 'latin1'), ...parts]);
}

function fullBox(type: string, parts: readonly Buffer[], more: readonly Buffer[] = []): Buffer {
  return fullBoxWithFlags(type, 0, parts, more);
}

function fullBoxWithFlags(
  type: string,
  flags: number,
  parts: readonly Buffer[],
  more: readonly Buffer[] = [],
): Buffer {
  return box(type, u32(flags), ...parts, ...more);
}

function u16(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
