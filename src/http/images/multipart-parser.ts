import { GatewayError } from '../../errors/errors.ts';

export interface PartHead {
  readonly name: string;
  readonly fileName?: string;
  readonly mediaType: string;
}

export interface PartSink {
  write(bytes: Buffer): void;
  end(): void;
}

const headBytesMax = 8 * 1024;
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');

/**
 * Parses multipart/form-data piece by piece (RFC 7578, RFC 2046). `onPart` returns a sink, which receives the part's
 * bytes as they arrive. Throws GatewayError for malformed input.
 */
export class MultipartParser {
  private readonly delimiter: Buffer;
  private readonly onPart: (head: PartHead) => PartSink;
  /**
   * The bytes that have not been parsed yet. They begin with a line break, because a body may lack the one before the
   * first delimiter.
   */
  private pending: Buffer = lineEnd;
  private state: 'preamble' | 'after delimiter' | 'head' | 'body' | 'done' = 'preamble';
  private sink: PartSink | undefined;

  constructor(boundary: string, onPart: (head: PartHead) => PartSink) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
    this.onPart = onPart;
  }

  push(chunk: Buffer): void {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    while (this.step());
  }

  end(): void {
    if (this.state !== 'done') throw malformed();
  }

  private step(): boolean {
    switch (this.state) {
      case 'preamble':
      case 'body':
        return this.takeUntilDelimiter();
      case 'after delimiter':
        return this.takeDelimiterEnd();
      case 'head':
        return this.takeHead();
      case 'done':
        this.pending = Buffer.alloc(0);
        return false;
      default:
        return this.state satisfies never;
    }
  }

  private takeUntilDelimiter(): boolean {
    const found = this.pending.indexOf(this.delimiter);
    // Keep the end of this piece, because it may be the start of a delimiter.
    const until = found === -1 ? Math.max(0, this.pending.length - this.delimiter.length + 1) : found;
    if (until > 0) this.sink?.write(this.pending.subarray(0, until));
    if (found === -1) {
      this.pending = this.pending.subarray(until);
      return false;
    }
    this.pending = this.pending.subarray(found + this.delimiter.length);
    this.sink?.end();
    this.sink = undefined;
    this.state = 'after delimiter';
    return true;
  }

  private takeDelimiterEnd(): boolean {
    if (this.pending.length < 2) return false;
    if (this.pending.toString('latin1', 0, 2) === '--') {
      this.state = 'done';
      return true;
    }
    const end = this.pending.indexOf(lineEnd);
    if (end === -1 && this.pending.length <= headBytesMax) return false;
    // Only spaces and tabs may follow a delimiter on its line.
    if (end === -1 || /[^ \t]/.test(this.pending.toString('latin1', 0, end))) throw malformed();
    // Keep this line break, because a part without headers consists of this line break and another one.
    this.pending = this.pending.subarray(end);
    this.state = 'head';
    return true;
  }

  private takeHead(): boolean {
    const end = this.pending.indexOf(headEnd);
    if (end > headBytesMax || (end === -1 && this.pending.length > headBytesMax)) throw headTooLarge();
    if (end === -1) return false;
    const head = parseHead(this.pending.toString('utf8', 0, end));
    this.pending = this.pending.subarray(end + headEnd.length);
    this.sink = this.onPart(head);
    this.state = 'body';
    return true;
  }
}

function parseHead(text: string): PartHead {
  const lines = text.split('\r\n');
  const field = (name: string): string | undefined =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1);
  const disposition = field('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (!/^\s*form-data\s*;/i.test(disposition) || name === undefined) throw malformed();
  const fileName = parameter(disposition, 'filename');
  const mediaType = (field('content-type') ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ?? '';
  return { name, mediaType, ...(fileName === undefined ? {} : { fileName }) };
}

function parameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;\\s"]+))`, 'i').exec(disposition);
  return match?.[1] ?? match?.[2];
}

function headTooLarge(): GatewayError {
  return new GatewayError('request_too_large', `Part headers must not exceed ${headBytesMax} bytes.`);
}

function malformed(): GatewayError {
  return new GatewayError('invalid_parameter', 'The multipart body is cut off or malformed.');
}
