import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { systemCodeOf } from '../base/caught.ts';
import { NoRoomError, whileRoom } from '../errors/not-stored.ts';
import { walk } from '../base/walk.ts';
import type { Walked } from '../base/walk.ts';
import { createOnDisk } from './disk-threads.ts';
import type { OnDisk } from './disk-threads.ts';
import type { ByteRange, ResultStorage, StoredFile, SweepFailed } from './storage.ts';

/** Contains all unfinished files, so that those left behind by a dead process can be found. No task has such an id. */
const partsFolder = '.parts';
/** Longer than a write in progress ever pauses, in milliseconds. */
const partKeptMs = 3_600_000;
/** The number of bytes written to a file between checks of the free space. */
const checkedBytes = 64 * 1024 * 1024;
const readBytes = 64 * 1024;

export interface DirectoryStorageOptions {
  /** While less than this much space is free on the disk, nothing is written. */
  readonly freeBytesMin?: number;
  /** Defaults to threads of its own. */
  readonly onDisk?: OnDisk;
}

/** Stores files below one directory, spread by the last two characters of the task id. */
export function createDirectoryStorage(
  directory: string,
  { freeBytesMin = 0, onDisk = createOnDisk() }: DirectoryStorageOptions = {},
): ResultStorage {
  const parts = join(directory, partsFolder);
  const pathOf = (key: string): string => {
    const [task = '', name = ''] = key.split('/');
    return join(directory, task.slice(-2), task, name);
  };

  const room = createRoom(directory, freeBytesMin, onDisk);
  /** Runs operations on one task's files. */
  const forTask = (key: string): Run => {
    const [task = ''] = key.split('/');
    return (operation) => onDisk(task, operation);
  };

  return {
    async write(key, body, { signal }) {
      const path = pathOf(key);
      const part = join(parts, randomUUID());
      const run = forTask(key);
      const write = async (): Promise<void> => {
        await run(() => mkdir(parts, { recursive: true }));
        await room.require();
        await writeFile(part, room.whileFree(body), { run, signal });
        await run(() => mkdir(dirname(path), { recursive: true }));
        signal?.throwIfAborted();
        await run(() => rename(part, path));
      };
      try {
        await whileRoom(write());
      } catch (error) {
        await run(() => rm(part, { force: true }));
        throw error;
      }
    },

    stat: (key) => forTask(key)(() => findFile(pathOf(key))),

    read: (key, range) => Promise.resolve(readFile(pathOf(key), range, forTask(key))),

    async remove(key) {
      const path = pathOf(key);
      const run = forTask(key);
      await run(() => rm(path, { force: true }));
      // Removing a task's last file also removes its directory.
      await run(() => rmdir(dirname(path))).catch(() => undefined);
    },

    sweep: (onFailed) => sweepParts(parts, onFailed, (operation) => onDisk('sweep', operation)),
    refusal: () => room.refusal(),
    problem: () => room.problem(),
    close: () => undefined,
  };
}

/** Runs an operation in one of the storage's threads. */
type Run = <Result>(operation: () => Promise<Result>) => Promise<Result>;

/** Writes a new file. */
export async function writeFile(
  path: string,
  body: AsyncIterable<Uint8Array>,
  { run, signal }: { readonly run: Run; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const file = await run(() => open(path, 'wx', 0o640));
  try {
    for await (const piece of body) {
      signal?.throwIfAborted();
      await run(() => file.writeFile(piece));
    }
    await run(() => file.sync());
  } finally {
    await run(() => file.close());
  }
}

/** Opens the file when it is first read. */
export function readFile(path: string, range: ByteRange, run: Run): Readable {
  return Readable.from(piecesOf(path, range, run), { objectMode: false });
}

async function* piecesOf(
  path: string,
  { start, end }: ByteRange,
  run: Run,
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await run(() => open(path));
  try {
    for (let at = start; at <= end;) {
      const piece = Buffer.alloc(Math.min(readBytes, end - at + 1));
      const position = at;
      const { bytesRead } = await run(() => file.read(piece, 0, piece.length, position));
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await run(() => file.close());
  }
}

/** Returns undefined if the file does not exist. */
export async function findFile(path: string): Promise<StoredFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { bytes: size, etag: `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"` };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Deletes partial files that are no longer being written. */
async function sweepParts(parts: string, onFailed: SweepFailed, run: Run): Promise<Walked> {
  await run(() => mkdir(parts, { recursive: true }));
  return walk(await run(() => readdir(parts)), {
    loop: 'parts of files',
    async run(name) {
      const path = join(parts, name);
      // The writer may have renamed or deleted the part in the meantime.
      const age = await run(() => ageOf(path));
      if (age === undefined || age < partKeptMs) return false;
      await run(() => rm(path, { force: true }));
      return true;
    },
    onFailed: (name, error) => onFailed(join(parts, name), error),
  });
}

/** Returns the age in milliseconds, or undefined if the file is gone. */
async function ageOf(path: string): Promise<number | undefined> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Checks whether the disk has free space beyond the reserve. */
function createRoom(directory: string, freeBytesMin: number, onDisk: OnDisk) {
  const freeBytes = (): Promise<number> =>
    onDisk('room', async () => {
      await mkdir(directory, { recursive: true });
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    });

  async function refusal(): Promise<NoRoomError | undefined> {
    const free = await freeBytes();
    return free < freeBytesMin
      ? new NoRoomError(`the disk that holds ${directory} has ${free} bytes free, below results.free_bytes`)
      : undefined;
  }

  async function requireRoom(): Promise<void> {
    const refused = await refusal();
    if (refused !== undefined) throw refused;
  }

  return {
    require: requireRoom,
    refusal,

    async *whileFree(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
      let unchecked = 0;
      for await (const piece of body) {
        unchecked += piece.byteLength;
        if (unchecked >= checkedBytes) {
          await requireRoom();
          unchecked = 0;
        }
        yield piece;
      }
    },

    async problem(): Promise<string | undefined> {
      const free = await freeBytes();
      if (free >= 2 * freeBytesMin) return undefined;
      return `The disk of ${directory} has ${free} bytes free. Below ${freeBytesMin} (results.free_bytes), no result and no file is stored any more. Free some space, or lower results.retention_days.`;
    },
  };
}
