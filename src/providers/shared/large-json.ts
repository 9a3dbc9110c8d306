import { randomUUID } from 'node:crypto';
import { firstBytes } from '../../base/first-bytes.ts';

/** A long string from a JSON text, kept as the received chunks of unescaped UTF-8. */
export class LargeText {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** If the string had no escapes, its bytes in quotes are valid JSON. */
  readonly verbatim: boolean;

  constructor(chunks: readonly Uint8Array[], verbatim: boolean) {
    this.chunks = chunks;
    this.verbatim = verbatim;
    this.bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  head(bytes: number): string {
    return Buffer.from(firstBytes(this.chunks, bytes)).toString('utf8');
  }

  from(bytes: number): LargeText {
    let skip = bytes;
    const chunks: Uint8Array[] = [];
    for (const chunk of this.chunks) {
      if (skip < chunk.length) chunks.push(skip > 0 ? chunk.subarray(skip) : chunk);
      skip -= chunk.length;
    }
    return new LargeText(chunks, this.verbatim);
  }

  toString(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }
}

export interface LargeJsonReader {
  /** Keeps references to the chunk, so the caller must not change it afterwards. */
  push(chunk: Uint8Array): void;
  finish(): unknown;
}

const largeFromBytes = 16 * 1024;
const quote = 0x22;
const backslash = 0x5c;

/**
 * Parses a JSON text as it arrives, without turning long strings into JavaScript strings. Each long string is replaced
 * by a mark, and the rest is parsed as usual. Only strings with escapes are copied, and base64 has none except `\/`.
 */
export function createLargeJsonReader(): LargeJsonReader {
  const small: Uint8Array[] = [];
  const large: LargeText[] = [];
  // The mark is random, so nothing in the text can be mistaken for it.
  const mark = randomUUID();
  let current: OpenString | undefined;

  function endString(open: OpenString): void {
    if (open.bytes < largeFromBytes) {
      small.push(...open.pieces, Buffer.of(quote));
      return;
    }
    small.push(Buffer.from(`${mark}:${large.length}"`));
    large.push(open.hasEscapes ? unescape(open.pieces) : new LargeText(open.pieces, true));
  }

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let at = 0;
      while (at < bytes.length) {
        if (current === undefined) {
          const start = bytes.indexOf(quote, at);
          const end = start < 0 ? bytes.length : start + 1;
          small.push(bytes.subarray(at, end));
          if (start >= 0) current = { pieces: [], bytes: 0, hasEscapes: false, escaping: false };
          at = end;
          continue;
        }
        const end = findEnd(bytes, at, current);
        const stop = end < 0 ? bytes.length : end;
        current.pieces.push(bytes.subarray(at, stop));
        current.bytes += stop - at;
        at = stop;
        if (end < 0) break;
        endString(current);
        current = undefined;
        at += 1;
      }
    },

    finish() {
      if (current !== undefined) return undefined;
      return parse(Buffer.concat(small).toString('utf8'), mark, large);
    },
  };
}

interface OpenString {
  readonly pieces: Uint8Array[];
  bytes: number;
  hasEscapes: boolean;
  /** Set if the chunk ended between a backslash and the character that it escapes. */
  escaping: boolean;
}

function findEnd(bytes: Buffer, start: number, open: OpenString): number {
  let at = start;
  let nextQuote = -1;
  let nextEscape = -1;
  if (open.escaping) {
    open.escaping = false;
    at += 1;
  }
  for (;;) {
    if (nextQuote < at) nextQuote = indexOrEnd(bytes, quote, at);
    if (nextEscape < at) nextEscape = indexOrEnd(bytes, backslash, at);
    if (nextQuote < nextEscape) return nextQuote;
    if (nextEscape === bytes.length) return -1;
    open.hasEscapes = true;
    at = nextEscape + 2;
    if (at > bytes.length) {
      open.escaping = true;
      return -1;
    }
  }
}

function indexOrEnd(bytes: Buffer, value: number, from: number): number {
  const found = bytes.indexOf(value, from);
  return found < 0 ? bytes.length : found;
}

function unescape(pieces: readonly Uint8Array[]): LargeText {
  const value = parseText(`"${Buffer.concat(pieces).toString('utf8')}"`);
  return new LargeText([Buffer.from(typeof value === 'string' ? value : '')], false);
}

function parse(text: string, mark: string, large: readonly LargeText[]): unknown {
  return parseText(text, (value) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    return large[Number(value.slice(mark.length + 1))];
  });
}

function parseText(text: string, replace?: (value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, replace === undefined ? undefined : (_name, value: unknown) => replace(value));
  } catch {
    return undefined;
  }
}
