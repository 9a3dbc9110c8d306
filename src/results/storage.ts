import type { Readable } from 'node:stream';
import type { IsOver, Walked } from '../base/walk.ts';
import type { NotStoredError } from '../errors/not-stored.ts';

/**
 * An aborted write may still complete within this time, because the bucket may already have all of its bytes. The
 * file's name is kept for this long so that the file can be deleted.
 */
export const lateWriteMs = 3_600_000;

interface WrittenFile {
  readonly mediaType: string;
  readonly signal?: AbortSignal;
}

export interface ResultStorage {
  /**
   * Nothing is visible under the key until the write is complete. Keys have the form `<task>/<name>` and are checked by
   * the caller. Rejects with a NoRoomError if the storage is full. `withKnownRefusals` turns other failures into a
   * StorageAwayError, unless the stream itself failed.
   */
  write(key: string, body: AsyncIterable<Uint8Array>, file: WrittenFile): Promise<void>;
  stat(key: string, signal?: AbortSignal): Promise<StoredFile | undefined>;
  /** `end` is inclusive. If the file cannot be read, the promise rejects or the stream fails with a NotReadError. */
  read(key: string, range: ByteRange, signal?: AbortSignal): Promise<Readable>;
  remove(key: string): Promise<void>;
  /** Deletes unfinished files of dead processes. Undefined if the storage deletes them itself. */
  readonly sweep?: (onFailed: SweepFailed, isOver?: IsOver) => Promise<Walked>;
  refusal(): Promise<NotStoredError | undefined>;
  /** Returns sentences about what operators should change in the storage. */
  problem(): Promise<string | undefined>;
  /**
   * Returns a URL from which anyone can read the file for a while without going through the gateway. Undefined if only
   * the gateway serves files.
   */
  readonly directAddress?: (key: string, ask: DirectAsk) => Promise<string>;
  close(): void;
}

export type SweepFailed = (path: string, error: unknown) => void;

export interface StoredFile {
  readonly bytes: number;
  readonly etag: string;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface DirectAsk {
  readonly method: 'GET' | 'HEAD';
  readonly seconds: number;
  readonly mediaType: string;
}
