import { toRgb } from './picture.ts';
import type { Picture } from './picture.ts';

/** Lossless WebP in the picture's first colour: each code has one symbol, so that a pixel needs no bit at all. */
export function encodeWebp(picture: Picture): Buffer {
  const [red, green, blue] = toRgb(picture.colour(0, 0));
  const fields: readonly (readonly [value: number, bits: number])[] = [
    [0x2f, 8],
    [picture.width - 1, 14],
    [picture.height - 1, 14],
    [0, 4], // opaque, version 0
    [0, 3], // no transform, no colour cache, one code group
    ...[green, red, blue, 255].flatMap((symbol) => [[0b101, 3], [symbol, 8]] as const),
    [0b001, 4], // distance: symbol 0
  ]; // prettier-ignore
  const bytes: number[] = [];
  let position = 0;
  for (const [value, bits] of fields) {
    for (let bit = 0; bit < bits; bit += 1) {
      const index = position >> 3;
      bytes[index] = (bytes[index] ?? 0) | (((value >> bit) & 1) << (position & 7));
      position += 1;
    }
  }
  const body = Buffer.from(bytes.length % 2 === 0 ? bytes : [...bytes, 0]);
  const out = Buffer.alloc(20);
  out.write('RIFF', 0, 'latin1');
  out.writeUInt32LE(12 + body.length, 4);
  out.write('WEBPVP8L', 8, 'latin1');
  out.writeUInt32LE(bytes.length, 16);
  return Buffer.concat([out, body]);
}
