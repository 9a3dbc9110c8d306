import { crc32, deflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly tint: number;
  readonly marked: boolean;
}

const tints = ['4060a0', '307050', 'a05030', '905080', '3060c0', 'a04050'];
export const tintCount = tints.length;

function colourOf({ tint, marked }: Picture): readonly [red: number, green: number, blue: number] {
  const [red = 0, green = 0, blue = 0] = Buffer.from(tints[tint % tintCount] ?? '', 'hex');
  return marked ? [red + 60, green + 60, blue + 60] : [red, green, blue];
}

export function encodePng(picture: Picture): Buffer {
  const { width, height } = picture;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 3, 0, 0, 0], 8); // 1 bit per pixel, palette
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colourOf(picture))),
    chunk('IDAT', deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export function paddingChunk(length: number): Buffer {
  return length < 12 ? Buffer.alloc(0) : chunk('paDd', Buffer.alloc(length - 12));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/**
 * Baseline JPEG, 4:2:0. Only the first block of each component has content: its DC, in steps of one (quantiser 8). The
 * Huffman tables encode "no change" and "end of block" in one bit each, so all other blocks are zeros.
 */
const bitsOfUnit = 12;

export function encodeJpeg(picture: Picture): Buffer {
  const { width, height } = picture;
  const [red, green, blue] = colourOf(picture);
  const first = [
    dc(0.299 * red + 0.587 * green + 0.114 * blue - 128),
    '000000',
    dc(-0.168736 * red - 0.331264 * green + 0.5 * blue),
    dc(0.5 * red - 0.418688 * green - 0.081312 * blue),
  ].join('');
  const units = Math.ceil(width / 16) * Math.ceil(height / 16);
  const length = first.length + (units - 1) * bitsOfUnit;
  const scan = Buffer.alloc(Math.ceil(length / 8));
  const bytes = first.padEnd(64, '0').match(/.{8}/g) ?? [];
  scan.set(bytes.slice(0, scan.length).map((byte) => Number.parseInt(byte, 2)));
  scan[scan.length - 1] = (scan.at(-1) ?? 0) | (2 ** (scan.length * 8 - length) - 1);
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  const zeros = (count: number) => Array.from({ length: count }, () => 0);
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...zeros(64).fill(8)]),
    segment(0xc0, [8, ...size, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]),
    segment(0xc4, [0, 1, 0, 0, 0, 8, ...zeros(11), ...zeros(9).map((_, at) => at), 16, 1, ...zeros(15), 0]),
    segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
    // Inside a scan, each 0xff must be followed by 0.
    Buffer.from(scan.toString('latin1').replaceAll('\u{ff}', '\u{ff}\0'), 'latin1'),
    Buffer.from('ffd9', 'hex'),
  ]);
}

function dc(value: number): string {
  const whole = Math.round(value);
  if (whole === 0) return '00';
  const category = 32 - Math.clz32(Math.abs(whole));
  const bits = whole > 0 ? whole : 2 ** category - 1 + whole;
  return `${(15 + category).toString(2)}${bits.toString(2).padStart(category, '0')}0`;
}

export function segment(marker: number, body: Iterable<number> & { readonly length: number }): Buffer {
  const length = body.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 255, ...body]);
}

/** Lossless. Each code has only one symbol, so the pixels need no bits. */
export function encodeWebp(picture: Picture): Buffer {
  const [red, green, blue] = colourOf(picture);
  const fields: readonly (readonly [value: number, bits: number])[] = [
    [0x2f, 8],
    [picture.width - 1, 14],
    [picture.height - 1, 14],
    [0, 7], // Opaque, version 0, no transform, no colour cache, one code group
    ...[green, red, blue, 255].flatMap((symbol) => [[0b101, 3], [symbol, 8]] as const),
    [0b001, 4], // distance: symbol 0
  ]; // prettier-ignore
  const bits = fields.map(([value, count]) =>
    Array.from(value.toString(2).padStart(count, '0')).toReversed(),
  );
  const bytes = bits.flat().join('').padEnd(96, '0').match(/.{8}/g) ?? [];
  const body = bytes.map((byte) => Number.parseInt(Array.from(byte).toReversed().join(''), 2));
  const out = Buffer.alloc(20);
  out.write('RIFF', 0, 'latin1');
  out.writeUInt32LE(12 + body.length, 4);
  out.write('WEBPVP8L', 8, 'latin1');
  out.writeUInt32LE(body.length, 16);
  return Buffer.concat([out, Buffer.from(body)]);
}
