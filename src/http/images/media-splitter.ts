import { randomUUID } from 'node:crypto';
import { hasMediaName } from '../../intake/carries.ts';
import { dataUrlStart, longDataUrlBytesMin, openDataUrlFile, type DataUrlFile } from './data-url-file.ts';
import type { Spool } from './spool.ts';
import type { UploadedFile } from '../../intake/uploaded-file.ts';

const quote = 0x22;
const backslash = 0x5c;
const quoteBytes = Buffer.from('"');
const keyBytesMax = 48;
/** How many bytes of a string are inspected one by one before a native search takes over. Most strings are shorter. */
const walkedBytes = 64;
const unfinishedEscape = /\\(?:u[0-9A-Fa-f]{0,3})?$/;

export interface MediaSplitterOptions {
  readonly spool: Spool;
  readonly onRest: (piece: Uint8Array) => void;
}

/**
 * While a JSON text arrives, writes long data URLs and base64 in its media fields to files, and replaces them with
 * unguessable placeholders. The text in memory therefore never reaches many megabytes.
 */
export class MediaSplitter {
  private readonly options: MediaSplitterOptions;
  private readonly token = `file:${randomUUID()}:`;
  private readonly files: DataUrlFile[] = [];
  /** The unfinished escape sequence at the end of the last piece of a long data URL. */
  private escape = '';

  private mode: 'structure' | 'string' | 'candidate' | 'long' = 'structure';
  private escaped = false;
  private depth = 0;
  private isValue = false;
  private inList = false;
  private index = 0;
  private key = '';
  private held: Uint8Array[] = [];
  private heldBytes = 0;

  constructor(options: MediaSplitterOptions) {
    this.options = options;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.mode === 'structure' ? this.takeStructure(chunk, at) : this.takeString(chunk, at);
    }
  }

  get isWhole(): boolean {
    return this.files.length === 0;
  }

  fileOf(value: unknown): UploadedFile | undefined {
    if (typeof value !== 'string' || !value.startsWith(this.token)) return undefined;
    return this.files[Number(value.slice(this.token.length))]?.file.uploaded('image');
  }

  private takeStructure(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      if (chunk[at] !== quote) {
        this.follow(chunk[at] ?? 0);
        continue;
      }
      this.options.onRest(chunk.subarray(from, at));
      this.mode = this.isMedia() ? 'candidate' : 'string';
      this.held = [];
      this.heldBytes = 0;
      if (this.mode === 'candidate') return at + 1;
      if (this.depth === 1 && !this.isValue) this.key = '';
      this.options.onRest(chunk.subarray(at, at + 1));
      return at + 1;
    }
    this.options.onRest(chunk.subarray(from));
    return chunk.length;
  }

  private follow(byte: number): void {
    switch (byte) {
      case 0x7b: // {
      case 0x5b: // [
        this.depth += 1;
        if (this.depth !== 2) return;
        this.inList = byte === 0x5b;
        this.index = 0;
        return;
      case 0x7d: // }
      case 0x5d: // ]
        this.depth -= 1;
        return;
      case 0x2c: // ,
        if (this.depth === 1) this.isValue = false;
        if (this.depth === 2) this.index += 1;
        return;
      case 0x3a: // :
        if (this.depth === 1) this.isValue = true;
        return;
      default:
    }
  }

  private isMedia(): boolean {
    return this.isValue && hasMediaName(this.key);
  }

  private takeString(chunk: Buffer, from: number): number {
    const { at, ended } = this.findEnd(chunk, from);
    const text = chunk.subarray(from, ended ? at - 1 : at);
    if (this.mode === 'string') this.takePlain(text, ended);
    else if (this.mode === 'candidate') this.takeCandidate(text, ended);
    else this.takeLong(text, ended);
    if (ended) this.mode = 'structure';
    return at;
  }

  private findEnd(chunk: Buffer, from: number): { readonly at: number; readonly ended: boolean } {
    const walked = this.walk(chunk, from, Math.min(chunk.length, from + walkedBytes));
    if (walked.ended || this.escaped)
      return walked.ended ? walked : this.walk(chunk, walked.at, chunk.length);
    const found = chunk.indexOf(quote, walked.at);
    const end = found < 0 ? chunk.length : found;
    if (chunk.subarray(walked.at, end).includes(backslash)) return this.walk(chunk, walked.at, chunk.length);
    return { at: found < 0 ? end : end + 1, ended: found >= 0 };
  }

  private walk(chunk: Buffer, from: number, to: number): { readonly at: number; readonly ended: boolean } {
    for (let at = from; at < to; at += 1) {
      if (this.escaped) this.escaped = false;
      else if (chunk[at] === backslash) this.escaped = true;
      else if (chunk[at] === quote) return { at: at + 1, ended: true };
    }
    return { at: to, ended: false };
  }

  private takePlain(text: Buffer, ended: boolean): void {
    if (this.depth === 1 && !this.isValue && this.key.length < keyBytesMax) {
      this.key += text.toString('latin1', 0, keyBytesMax);
    }
    this.options.onRest(text);
    if (ended) this.options.onRest(quoteBytes);
  }

  /** Holds the text back until it is either complete and short, or long enough for a file. */
  private takeCandidate(text: Buffer, ended: boolean): void {
    this.held.push(text);
    this.heldBytes += text.length;
    if (this.heldBytes <= longDataUrlBytesMin && !ended) return;
    const all = Buffer.concat(this.held);
    this.held = [];
    const start = this.heldBytes > longDataUrlBytesMin ? dataUrlStart(this.unescape(all, ended)) : undefined;
    if (start !== undefined) {
      this.startLong(start, ended);
      return;
    }
    this.escape = '';
    this.options.onRest(quoteBytes);
    this.options.onRest(all);
    this.mode = 'string';
    if (ended) this.options.onRest(quoteBytes);
  }

  private startLong(start: string, ended: boolean): void {
    const { spool, onRest } = this.options;
    const param = this.depth > 1 && this.inList ? `${this.key}[${this.index}]` : this.key;
    onRest(Buffer.from(`"${this.token}${this.files.length}"`));
    const opened = openDataUrlFile(spool, param, start);
    this.files.push(opened);
    if (ended) opened.push('', true);
    this.mode = 'long';
  }

  private takeLong(text: Buffer, ended: boolean): void {
    this.files.at(-1)?.push(this.unescape(text, ended), ended);
  }

  /** Many clients escape `/`, `+` and `=` in JSON. Invalid escapes stay and are later rejected as invalid base64. */
  private unescape(text: Buffer, ended: boolean): string {
    const raw = this.escape + text.toString('latin1');
    this.escape = ended ? '' : (unfinishedEscape.exec(raw)?.[0] ?? '');
    const whole = raw.slice(0, raw.length - this.escape.length);
    if (!whole.includes('\\')) return whole;
    try {
      const parsed: unknown = JSON.parse(`"${whole}"`);
      return typeof parsed === 'string' ? parsed : whole;
    } catch {
      return whole;
    }
  }
}
