import { crc32, inflateSync } from 'node:zlib';

export interface Png {
  readonly width: number;
  readonly height: number;
  pixel(x: number, y: number): readonly number[];
}

/** Reads 8-bit palette PNGs whose rows use the filters "none" and "up"; anything else is an error. */
export function readPng(file: Buffer): Png {
  if (file.toString('latin1', 1, 4) !== 'PNG') throw new Error('not a PNG');
  const chunks = readChunks(file);
  const header = chunks.get('IHDR') ?? Buffer.alloc(0);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header.readUInt8(8) !== 8 || header.readUInt8(9) !== 3) throw new Error('not an 8-bit palette');
  const palette = chunks.get('PLTE') ?? Buffer.alloc(0);
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
  if (rows.length !== (width + 1) * height) throw new Error('the rows do not fill the picture');
  const pixels = Buffer.alloc(width * height);
  for (let y = 0; y < height; y += 1) {
    const filter = rows.readUInt8(y * (width + 1));
    if (filter !== 0 && filter !== 2) throw new Error(`filter ${filter}`);
    for (let x = 0; x < width; x += 1) {
      const above = filter === 2 && y > 0 ? pixels.readUInt8((y - 1) * width + x) : 0;
      pixels[y * width + x] = rows.readUInt8(y * (width + 1) + 1 + x) + above;
    }
  }
  return {
    width,
    height,
    pixel(x, y) {
      const index = pixels.readUInt8(y * width + x) * 3;
      if (index + 3 > palette.length) throw new Error('a pixel outside the palette');
      return Array.from(palette.subarray(index, index + 3));
    },
  };
}

function readChunks(file: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    const body = file.subarray(at + 4, at + 8 + length);
    if (crc32(body) !== file.readUInt32BE(at + 8 + length)) throw new Error('a chunk fails its checksum');
    chunks.set(body.toString('latin1', 0, 4), body.subarray(4));
    at += 12 + length;
  }
  if (!chunks.has('IEND')) throw new Error('no end');
  return chunks;
}
