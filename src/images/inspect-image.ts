export interface ImageFacts {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
}

/**
 * How many bytes are inspected. This is enough to find the dimensions of a JPEG, which may come after profiles and
 * previews.
 */
export const inspectedBytesMax = 1024 * 1024;

/**
 * Uses only the image's bytes and ignores its name and declared media type. Returns undefined unless the image is a
 * PNG, JPEG, GIF or WebP.
 */
export function inspectImage(bytes: Uint8Array): ImageFacts | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, inspectedBytesMax));
  const found = readPng(data) ?? readGif(data) ?? readWebp(data) ?? readJpeg(data);
  return found === undefined || found.width === 0 || found.height === 0 ? undefined : found;
}

export const headBytes = 64 * 1024;

export async function inspectSource({
  bytes,
  read,
}: {
  readonly bytes: number;
  readonly read: (start: number, end: number) => Promise<Uint8Array>;
}): Promise<ImageFacts | undefined> {
  const head = await read(0, headBytes);
  const isCut = head[0] === 0xff && head[1] === 0xd8 && bytes > headBytes;
  return inspectImage(head) ?? (isCut ? inspectImage(await read(0, inspectedBytesMax)) : undefined);
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

function readPng(data: Buffer): ImageFacts | undefined {
  if (data.length < 24 || !data.subarray(0, 8).equals(pngSignature)) return undefined;
  if (data.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { mediaType: 'image/png', width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
}

function readGif(data: Buffer): ImageFacts | undefined {
  if (data.length < 10 || !/^GIF8[79]a$/.test(data.toString('latin1', 0, 6))) return undefined;
  return { mediaType: 'image/gif', width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
}

function readWebp(data: Buffer): ImageFacts | undefined {
  if (data.length < 30 || data.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  if (data.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const mediaType = 'image/webp';
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { mediaType, width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      if (data[20] !== 0x2f) return undefined;
      const bits = data.readUInt32LE(21);
      // Width and height have 14 bits each.
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      if (data.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { mediaType, width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

function readJpeg(data: Buffer): ImageFacts | undefined {
  if (data.length < 4 || data.readUIntBE(0, 3) !== 0xffd8ff) return undefined;
  let at = 2;
  while (at + 9 <= data.length) {
    if (data[at] !== 0xff) return undefined;
    const marker = data[at + 1] ?? 0;
    if (marker === 0xff) {
      // Fill bytes may precede a marker.
      at += 1;
      continue;
    }
    if (isFrameHeader(marker)) {
      return { mediaType: 'image/jpeg', height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
    }
    at += 2 + data.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Frame headers are SOF0 to SOF15, except three codes in that range that have other meanings. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
