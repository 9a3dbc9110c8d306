import type { Readable } from 'node:stream';
import type { IsOver, Walked } from '../base/walk.ts';
import type { NotStoredError } from '../errors/not-stored.ts';

/**
 * How long an aborted write may still complete, in milliseconds. A bucket may already have received all of its bytes,
 * so the file's name is kept for this long in order to delete the file afterwards.
 */
export const lateWriteMs = 3_600_000;

interface WrittenFile {
  readonly mediaType: string;
  readonly signal?: AbortSignal;
}

export interface ResultStorage {
  /**
   * Writes a file. Nothing is visible under the key until the write is complete. Keys have the form `<task>/<name>`
   * and are checked elsewhere. Rejects with a NoRoomError if the storage has no room, and with the original error for
   * any other failure. `withKnownRefusals` turns that error into a StorageAwayError unless the stream itself failed.
   */
  write(key: string, body: AsyncIterable<Uint8Array>, file: WrittenFile): Promise<void>;
  stat(key: string, signal?: AbortSignal): Promise<StoredFile | undefined>;
  /**
   * Reads a range, whose `end` is inclusive. If the file cannot be read, rejects with a NotReadError, or the stream
   * fails with one.
   */
  read(key: string, range: ByteRange, signal?: AbortSignal): Promise<Readable>;
  remove(key: string): Promise<void>;
  /** Deletes unfinished files of dead processes. Undefined if the storage does so itself. */
  readonly sweep?: (onFailed: SweepFailed, isOver?: IsOver) => Promise<Walked>;
  refusal(): Promise<NotStoredError | undefined>;
  /**
   * Returns sentences that explain to operators what to change in the storage, or undefined if nothing needs to
   * change.
   */
  problem(): Promise<string | undefined>;
  /**
   * Returns a URL from which anyone can read the file for a while, bypassing the gateway. Undefined if only the
   * gateway serves files.
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
