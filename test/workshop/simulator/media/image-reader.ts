/** Pixel size of an image file, by its headers; the format is recognised by its first bytes. */
export interface ImageFacts {
  readonly format: 'png' | 'jpeg' | 'webp';
  readonly width: number;
  readonly height: number;
}

export function readImage(file: Buffer): ImageFacts {
  if (file.readUInt32BE(0) === 0x89504e47) {
    return { format: 'png', width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
  }
  if (file.readUInt16BE(0) === 0xffd8) return readJpeg(file);
  if (file.toString('latin1', 0, 4) === 'RIFF' && file.toString('latin1', 8, 16) === 'WEBPVP8L') {
    if (file.readUInt32LE(4) !== file.length - 8 || file.readUInt8(20) !== 0x2f)
      throw new Error('WebP: header');
    const packed = file.readUInt32LE(21);
    return { format: 'webp', width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
  }
  throw new Error('not an image');
}

/** Walks all segments up to the scan, so that a wrong length anywhere is found. */
function readJpeg(file: Buffer): ImageFacts {
  if (file.readUInt16BE(file.length - 2) !== 0xffd9) throw new Error('JPEG: no end');
  let facts: ImageFacts | undefined;
  for (let at = 2; ;) {
    if (file.readUInt8(at) !== 0xff) throw new Error(`JPEG: no marker at ${at}`);
    const marker = file.readUInt8(at + 1);
    if (marker === 0xc0) {
      facts = { format: 'jpeg', height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) };
    }
    at += 2 + file.readUInt16BE(at + 2);
    if (marker !== 0xda) continue;
    for (; at < file.length - 2; at += 1) {
      if (file.readUInt8(at) === 0xff && file.readUInt8(at + 1) !== 0)
        throw new Error('JPEG: a bare 0xff in the scan');
      if (file.readUInt8(at) === 0xff) at += 1;
    }
    if (facts === undefined) throw new Error('JPEG: no frame');
    return facts;
  }
}
