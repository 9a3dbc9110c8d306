import { crc32, deflateSync } from 'node:zlib';
import { blockSize, toRgb } from './picture.ts';
import type { Picture, Yuv } from './picture.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const filterNone = 0;
const filterUp = 2;

/** The picture as a palette PNG of exactly its pixel size. */
export function encodePng(picture: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits per pixel, palette
  const { palette, rows } = paint(picture);
  // Level 1 suffices: all rows but those at a block border are zeros after the "up" filter.
  const data = deflateSync(rows, { level: 1 });
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A private chunk that readers skip, of `length` bytes; nothing when that is too few. */
export function paddingChunk(length: number): Buffer {
  return length < 12 ? Buffer.alloc(0) : chunk('paDd', Buffer.alloc(length - 12));
}

function paint(picture: Picture): { palette: Buffer; rows: Buffer } {
  const indexes = new Map<string, number>();
  const palette: number[] = [];
  const indexOf = (colour: Yuv): number => {
    const key = `${colour.y},${colour.cb},${colour.cr}`;
    const known = indexes.get(key);
    if (known !== undefined) return known;
    const index = indexes.size;
    indexes.set(key, index);
    palette.push(...toRgb(colour));
    return index;
  };
  const stride = picture.width + 1;
  const rows = Buffer.alloc(stride * picture.height, 0);
  const line = Buffer.alloc(picture.width);
  const previous = Buffer.alloc(picture.width);
  for (let y = 0; y < picture.height; y += 1) {
    const start = y * stride;
    rows[start] = y === 0 ? filterNone : filterUp;
    if (y % blockSize !== 0) continue; // equal to the row above: its "up" difference is the zeros already there
    previous.set(line);
    for (let column = 0; column < picture.columns; column += 1) {
      const index = indexOf(picture.colour(column, y / blockSize));
      line.fill(index, column * blockSize, Math.min(picture.width, (column + 1) * blockSize));
    }
    for (let x = 0; x < picture.width; x += 1) {
      rows[start + 1 + x] = y === 0 ? (line[x] ?? 0) : (line[x] ?? 0) - (previous[x] ?? 0);
    }
  }
  return { palette: Buffer.from(palette), rows };
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}
