const mediaTypes = {
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
} as const;

export const storedMediaTypes: readonly string[] = Object.values(mediaTypes);

export type MediaExtension = keyof typeof mediaTypes;

export function extensionOf(head: Buffer): MediaExtension | undefined {
  const ascii = (start: number, end: number): string => head.toString('latin1', start, end);
  if (ascii(4, 8) === 'ftyp') return ascii(8, 12) === 'qt  ' ? 'mov' : 'mp4';
  if (head.subarray(0, 4).equals(Buffer.from([0x1a, 0x45, 0xdf, 0xa3]))) return 'webm';
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return 'png';
  if (head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'jpg';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'webp';
  return /^GIF8[79]a/.test(ascii(0, 6)) ? 'gif' : undefined;
}

export function extensionFor(mediaType: string): string | undefined {
  return Object.entries(mediaTypes).find(([, type]) => type === mediaType)?.[0];
}

const namePattern = /^\d{1,3}(?:-last-frame)?\.([a-z0-9]{3,4})$/;

export function mediaTypeOf(name: string): string | undefined {
  const extension = namePattern.exec(name)?.[1] ?? '';
  return isExtension(extension) ? mediaTypes[extension] : undefined;
}

function isExtension(text: string): text is MediaExtension {
  return Object.hasOwn(mediaTypes, text);
}
