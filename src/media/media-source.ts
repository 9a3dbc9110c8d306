/** The bytes of a medium, wherever they lie, in any order. */
export interface MediaSource {
  /** Of the whole file. */
  readonly bytes: number;
  /** Up to, and without, `end`; fewer where the file ends. Rejects when they cannot be had. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Rejects as soon as more than this much was asked for altogether, however often the same bytes were. */
export function limitedSource(source: MediaSource, bytesMax: number): MediaSource {
  const { bytes } = source;
  let left = bytesMax;
  return {
    bytes,
    async read(start, end) {
      left -= Math.max(0, Math.min(end, bytes) - start);
      if (left < 0) throw new RangeError('more of the file was needed than is read');
      return source.read(start, end);
    },
  };
}

const dataUrl = /^data:[^,]{0,200};base64,/i;

/** Undefined: not a base64 data URL. Invalid characters in it are skipped, which leaves a broken file. */
export function dataUrlSource(url: string): MediaSource | undefined {
  const prefix = dataUrl.exec(url.slice(0, 256))?.[0];
  if (prefix === undefined) return undefined;
  const from = prefix.length;
  const padding = /={0,2}$/.exec(url.slice(-2))?.[0].length ?? 0;
  const bytes = Math.floor(((url.length - from - padding) * 3) / 4);
  return {
    bytes,
    read(start, end) {
      // Four characters are three bytes: decoded from a whole group, and no more than is asked for.
      const group = Math.floor(start / 3);
      const text = url.slice(from + group * 4, from + Math.ceil(Math.min(end, bytes) / 3) * 4);
      return Promise.resolve(Buffer.from(text, 'base64').subarray(start - group * 3, end - group * 3));
    },
  };
}
