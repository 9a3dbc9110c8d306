export interface InlineData {
  readonly mediaType: string;
  readonly base64: string;
}

export function readDataUrl(url: string): InlineData | undefined {
  const comma = /^data:/i.test(url) ? url.indexOf(',') : -1;
  const mediaType = /^data:([\w.+/-]+);base64$/i.exec(url.slice(0, Math.max(0, comma)))?.[1];
  return mediaType === undefined ? undefined : { mediaType, base64: url.slice(comma + 1) };
}

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
};

export function mediaTypeOf(url: string, kind: 'image' | 'video'): string {
  const ending = /\.([a-z0-9]{3,4})(?:$|[?#])/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const type = types[ending];
  return type?.startsWith(kind) === true ? type : kind === 'image' ? 'image/jpeg' : 'video/mp4';
}
