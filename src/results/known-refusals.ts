import { createSharedRead } from '../base/shared-read.ts';
import { NoRoomError, NotReadError, NotStoredError, StorageAwayError } from '../errors/not-stored.ts';
import type { ResultStorage } from './storage.ts';

/**
 * After rejecting a file, the storage is assumed to be full or unavailable for this long. Nothing that would have to be
 * stored is rendered during this time.
 */
const knownMs = 10_000;
const readEveryMs = 2_000;

interface KnownRefusalsDeps {
  readonly note: (failure: NotStoredError | NotReadError) => Promise<void>;
  readonly lastFull: () => Promise<number | undefined>;
  readonly now: () => number;
}

interface Refused {
  readonly refusal: NotStoredError;
  readonly at: number;
}

/**
 * Remembers failed writes. A full quota or bucket is noticed only when a file is written, so all processes share that
 * fact. Their clocks may differ, so each process uses its own clock to decide whether a shared record is new.
 * Unavailability is not shared, because the storage may be unreachable from this process only.
 */
export function withKnownRefusals(
  storage: ResultStorage,
  { note, lastFull, now }: KnownRefusalsDeps,
): ResultStorage {
  let last: Refused | undefined;
  const notedAt = new Map<unknown, number>();
  let read: { readonly note: number | undefined; readonly at: number } | undefined;
  const isWithin = (at: number, ms: number): boolean => Math.abs(now() - at) < ms;

  const readNotes = createSharedRead(
    async () => {
      const noted = await lastFull();
      // If the last read was too long ago for a comparison, only the writer's clock can show whether the record is new.
      const isRecent = noted !== undefined && isWithin(noted, knownMs);
      const isNew = read !== undefined && isWithin(read.at, knownMs) ? noted !== read.note : isRecent;
      if (noted !== undefined && isNew)
        last = { refusal: new NoRoomError('one of the gateway’s processes found no room'), at: now() };
      read = { note: noted, at: now() };
    },
    { ms: readEveryMs, now },
  );

  async function noteSeldom(failure: NotStoredError | NotReadError): Promise<void> {
    if (isWithin(notedAt.get(failure.constructor) ?? -Infinity, readEveryMs)) return;
    notedAt.set(failure.constructor, now());
    await note(failure);
  }

  async function remember(error: unknown): Promise<NotStoredError> {
    const refusal = error instanceof NotStoredError ? error : new StorageAwayError(error);
    last = { refusal, at: now() };
    await noteSeldom(refusal);
    return refusal;
  }

  /** Storage that rejects reads may still accept files, so this has no effect on rendering. */
  const noteNotRead = (error: unknown): void => {
    if (error instanceof NotReadError) void noteSeldom(error);
  };

  async function reading<Result>(work: Promise<Result>): Promise<Result> {
    work.catch(noteNotRead);
    return work;
  }

  return {
    ...storage,
    async write(key, body, file) {
      const source = watched(body);
      try {
        await storage.write(key, source.pieces(), file);
      } catch (error) {
        throw source.hasFailed() ? error : await remember(error);
      }
    },
    stat: (key) => reading(storage.stat(key)),
    read: async (key, range) => (await reading(storage.read(key, range))).once('error', noteNotRead),
    async refusal() {
      await readNotes();
      if (last !== undefined && isWithin(last.at, knownMs)) return last.refusal;
      return storage.refusal().catch(remember);
    },
  };
}

function watched(body: AsyncIterable<Uint8Array>) {
  let hasFailed = false;
  return {
    hasFailed: () => hasFailed,
    async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        yield* body;
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    },
  };
}
