import type { Readable } from 'node:stream';

/** Where copies of results lie. Keys are `<task>/<name>`, made by us and checked before they get here. */
export interface ResultStorage {
  /** Streams; nothing is visible under the key before all of it is there. Rejects with whatever broke. */
  write(key: string, body: AsyncIterable<Uint8Array>, mediaType: string): Promise<void>;
  /** Undefined: there is no such file. */
  stat(key: string): Promise<StoredFile | undefined>;
  /** `end` is inclusive. */
  read(key: string, range: ByteRange): Promise<Readable>;
  /** Also if it is gone already. */
  remove(key: string): Promise<void>;
  /** An address at which anybody may read the file for a while, without us. Absent: we alone serve files. */
  readonly directAddress?: (key: string, ask: DirectAsk) => Promise<string>;
  close(): void;
}

export interface StoredFile {
  readonly bytes: number;
  /** Strong, in quotes. */
  readonly etag: string;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface DirectAsk {
  readonly method: 'GET' | 'HEAD';
  /** For how long it works, in whole seconds, at least 1. */
  readonly seconds: number;
  readonly mediaType: string;
}
