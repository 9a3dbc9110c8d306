export interface MediaSource {
  readonly bytes: number;
  /**
   * Reads up to `end`, which is exclusive. Returns fewer bytes at the end of the file. Rejects if the bytes are
   * unavailable.
   */
  read(start: number, end: number): Promise<Uint8Array>;
}

export function limitedSource(source: MediaSource, bytesMax: number): MediaSource {
  const { bytes } = source;
  let left = bytesMax;
  return {
    bytes,
    async read(start, end) {
      left -= Math.max(0, Math.min(end, bytes) - start);
      if (left < 0) throw new RangeError('reading the file would take more bytes than the limit allows');
      return source.read(start, end);
    },
  };
}

const dataUrl = /^data:[^,]{0,200};base64,/i;

/** Returns undefined unless the URL is a base64 data URL. Invalid characters are skipped, which corrupts the file. */
export function dataUrlSource(url: string): MediaSource | undefined {
  const prefix = dataUrl.exec(url.slice(0, 256))?.[0];
  if (prefix === undefined) return undefined;
  const from = prefix.length;
  const padding = /={0,2}$/.exec(url.slice(-2))?.[0].length ?? 0;
  const bytes = Math.floor(((url.length - from - padding) * 3) / 4);
  return {
    bytes,
    read(start, end) {
      // Four characters encode three bytes, so decoding starts at the beginning of a group.
      const group = Math.floor(start / 3);
      const text = url.slice(from + group * 4, from + Math.ceil(Math.min(end, bytes) / 3) * 4);
      return Promise.resolve(Buffer.from(text, 'base64').subarray(start - group * 3, end - group * 3));
    },
  };
}
