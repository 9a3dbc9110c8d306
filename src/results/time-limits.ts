import { Readable, addAbortSignal } from 'node:stream';
import { NotReadError } from '../errors/not-stored.ts';
import { afterRunning, within } from '../process/running-time.ts';
import type { ByteRange, ResultStorage } from './storage.ts';

export interface StorageLimits {
  /** Limits the time for a response, or for a file's first bytes. */
  readonly answerMs: number;
  /** Limits the time between two chunks of a file that is being read. */
  readonly silentMs: number;
  /** Limits the time for accepting a chunk or completing the file. S3 buffers 16 MiB. */
  readonly takeMs: number;
}

export const storageLimits: StorageLimits = { answerMs: 10_000, silentMs: 20_000, takeMs: 120_000 };

/**
 * A bucket or network disk may never respond. A call that takes too long rejects, and releases its connection and the
 * file's bytes. If a file cannot be read completely, it rejects with a NotReadError.
 */
export function withTimeLimits(storage: ResultStorage, limits = storageLimits): ResultStorage {
  const { answerMs } = limits;
  const { directAddress } = storage;
  const answered = <Result>(work: Promise<Result>): Promise<Result> =>
    within(answerMs, work, () => silence(answerMs));
  return {
    ...storage,
    ...limitFiles(storage, limits),
    remove: (key) => answered(storage.remove(key)),
    refusal: () => answered(storage.refusal()),
    problem: () => answered(storage.problem()),
    ...(directAddress && {
      directAddress: (...asked: Parameters<typeof directAddress>) =>
        orNotRead(answered(directAddress(...asked))),
    }),
  };
}

export type Files = Pick<ResultStorage, 'write' | 'stat' | 'read'>;

export function limitFiles(files: Files, limits = storageLimits): Files {
  const { answerMs, takeMs } = limits;
  return {
    write: (key, body, file) =>
      givenUpAfter(takeMs, body, (pieces, signal) => files.write(key, pieces, { ...file, signal })),
    stat: (key) => orNotRead(abortedAfter(answerMs, (signal) => files.stat(key, signal))),
    read: (key, range) => orNotRead(firstBytes(range, limits, (signal) => files.read(key, range, signal))),
  };
}

function silence(ms: number): Error {
  return new Error(`no response within ${ms} ms`);
}

async function orNotRead<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    throw new NotReadError(error);
  }
}

async function abortedAfter<Result>(
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController();
  try {
    return await within(ms, work(abort.signal), () => silence(ms));
  } catch (error) {
    abort.abort();
    throw error;
  }
}

/** Waits for the first bytes, so that a response starts only if the file can be read. */
async function firstBytes(
  { start, end }: ByteRange,
  { answerMs, silentMs }: StorageLimits,
  open: (signal: AbortSignal) => Promise<Readable>,
): Promise<Readable> {
  const { body, pieces, first } = await abortedAfter(answerMs, async (signal) => {
    const opened = addAbortSignal(signal, await open(signal));
    const iterator: AsyncIterator<Uint8Array> = opened[Symbol.asyncIterator]();
    return { body: opened, pieces: iterator, first: await iterator.next() };
  });
  const later = () => within(silentMs, pieces.next(), () => silence(silentMs));
  let next = () => {
    next = later;
    return Promise.resolve(first);
  };
  let bytesLeft = end - start + 1;
  return new Readable({
    read() {
      next()
        .then(({ done, value }) => {
          if (done === true && bytesLeft > 0) throw new Error(`the file is ${bytesLeft} bytes too short`);
          bytesLeft -= done === true ? 0 : value.byteLength;
          this.push(done === true ? null : value);
        })
        .catch((error: unknown) => this.destroy(new NotReadError(error)));
    },
    destroy(error, done) {
      body.destroy();
      done(error);
    },
  });
}

type Pieces = AsyncIterable<Uint8Array>;

/**
 * Aborts the write if the storage accepts nothing for this long. The storage gets no more of the file, but may keep
 * what it has already accepted.
 */
async function givenUpAfter(
  ms: number,
  body: Pieces,
  write: (pieces: Pieces, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let source: AsyncIterator<Uint8Array> | undefined = body[Symbol.asyncIterator]();
  const abort = new AbortController();
  const late = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason));
  });
  const limit = () => afterRunning(ms, () => abort.abort(silence(ms)));
  let cancel = limit();
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    cancel();
    if (source === undefined) throw silence(ms);
    try {
      return await source.next();
    } finally {
      if (source !== undefined) cancel = limit();
    }
  };
  const close = async (): Promise<IteratorReturnResult<undefined>> => {
    await source?.return?.();
    return { done: true, value: undefined };
  };
  try {
    const pieces = { [Symbol.asyncIterator]: () => ({ next, return: close }) };
    await Promise.race([write(pieces, abort.signal), late]);
  } finally {
    cancel();
    close().catch(() => undefined);
    source = undefined;
  }
}
