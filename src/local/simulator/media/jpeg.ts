import { BitWriter } from './bit-writer.ts';
import { toRgb } from './picture.ts';
import type { Picture, Yuv } from './picture.ts';

/*
 * Baseline JPEG, 4:2:0, of blocks that are flat: only DC coefficients, of which one step is one step of the sample
 * (quantiser 8), and Huffman tables made for it: "no change" and "end of block" are one bit each.
 */
const quantiser = 8;
const largestCategory = 8;
const componentIds = [1, 2, 3] as const;

export function encodeJpeg(picture: Picture): Buffer {
  const writer = new BitWriter();
  let last = { y: 0, cb: 0, cr: 0 };
  for (let row = 0; row < picture.rows; row += 1) {
    for (let column = 0; column < picture.columns; column += 1) {
      const colour = toJfif(picture.colour(column, row));
      writeDc(writer, colour.y - last.y);
      for (let block = 0; block < 3; block += 1) writeDc(writer, 0);
      writeDc(writer, colour.cb - last.cb);
      writeDc(writer, colour.cr - last.cr);
      last = colour;
    }
  }
  return Buffer.concat([
    header(picture.width, picture.height),
    stuffed(writer.finish()),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** One 8x8 block: the difference of its DC, then end of block. */
function writeDc(writer: BitWriter, difference: number): void {
  const magnitude = Math.abs(difference);
  if (magnitude === 0) {
    writer.bits(0b00, 2);
    return;
  }
  const category = 32 - Math.clz32(magnitude);
  writer.bits(0b10000 + category - 1, 5);
  writer.bits(difference > 0 ? magnitude : (1 << category) - 1 - magnitude, category);
  writer.bits(0, 1);
}

function header(width: number, height: number): Buffer {
  const dcCodes = [1, 0, 0, 0, largestCategory, ...Array.from({ length: 11 }, () => 0)];
  const dcValues = Array.from({ length: largestCategory + 1 }, (_, category) => category);
  const acCodes = [1, ...Array.from({ length: 15 }, () => 0)];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...Array.from({ length: 64 }, () => quantiser)]),
    segment(0xc0, [
      8, height >> 8, height & 255, width >> 8, width & 255, 3,
      1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0,
    ]), // prettier-ignore
    segment(0xc4, [0x00, ...dcCodes, ...dcValues, 0x10, ...acCodes, 0]),
    segment(0xda, [3, ...componentIds.flatMap((id) => [id, 0]), 0, 63, 0]),
  ]);
}

/** A marker segment: its length counts itself. */
export function segment(marker: number, body: Iterable<number> & { readonly length: number }): Buffer {
  const length = body.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 255, ...body]);
}

/** 0xff inside the scan is followed by 0. */
function stuffed(scan: Buffer): Buffer {
  let extra = 0;
  for (const byte of scan) if (byte === 0xff) extra += 1;
  if (extra === 0) return scan;
  const out = Buffer.alloc(scan.length + extra);
  let at = 0;
  for (const byte of scan) {
    out[at] = byte;
    at += byte === 0xff ? 2 : 1;
  }
  return out;
}

/** Full-range BT.601 around 0, as JFIF has it. */
function toJfif(colour: Yuv): Yuv {
  const [red, green, blue] = toRgb(colour);
  return {
    y: Math.round(0.299 * red + 0.587 * green + 0.114 * blue) - 128,
    cb: Math.round(-0.168736 * red - 0.331264 * green + 0.5 * blue),
    cr: Math.round(0.5 * red - 0.418688 * green - 0.081312 * blue),
  };
}
