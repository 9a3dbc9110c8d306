import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemCodeOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { NoRoomError, whileRoom } from '../errors/not-stored.ts';
import { createTurns } from '../base/turns.ts';
import { walk, type IsOver, type Walked } from '../base/walk.ts';
import type { ResultStorage, StoredFile, SweepFailed } from './storage.ts';

/**
 * Unfinished files have a directory of their own, so that those of a dead process can be found. No task has this id.
 */
const partsFolder = '.parts';
/** No active write pauses for this long, so an older part is abandoned. */
const partKeptMs = 3_600_000;
/** Free space is checked again each time this many bytes have been written. */
const checkedBytes = 64 * 1024 * 1024;

export interface DirectoryStorageOptions {
  readonly freeBytesMin?: number;
}

export function createDirectoryStorage(
  directory: string,
  { freeBytesMin = 0 }: DirectoryStorageOptions = {},
): ResultStorage {
  const parts = join(directory, partsFolder);
  const pathOf = (key: string): string => {
    const [task = '', name = ''] = key.split('/');
    return join(directory, task.slice(-2), task, name);
  };

  const room = createRoom(directory, freeBytesMin);

  return {
    async write(key, body, { signal }) {
      const path = pathOf(key);
      const part = join(parts, randomUUID());
      const write = async (): Promise<void> => {
        await mkdir(parts, { recursive: true });
        await room.require();
        const file = createWriteStream(part, { flush: true, mode: 0o640 });
        await pipeline(room.whileFree(body), file, defined({ signal }));
        await mkdir(dirname(path), { recursive: true });
        signal?.throwIfAborted();
        await rename(part, path);
      };
      try {
        await whileRoom(write());
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },

    stat: (key) => findFile(pathOf(key)),

    read: (key, range) => Promise.resolve(createReadStream(pathOf(key), { ...range })),

    async remove(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      await rmdir(dirname(path)).catch(() => undefined);
    },

    sweep: createSweep(parts),
    refusal: () => room.refusal(),
    problem: () => room.problem(),
    close: () => undefined,
  };
}

export async function findFile(path: string): Promise<StoredFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { bytes: size, etag: `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"` };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function createSweep(parts: string) {
  const turns = createTurns((name: string) => name);
  return async (onFailed: SweepFailed, isOver: IsOver = () => false): Promise<Walked> => {
    await mkdir(parts, { recursive: true });
    return walk(await readdir(parts), {
      loop: 'parts of files',
      isOver,
      turns,
      async run(name) {
        const path = join(parts, name);
        // The part may be gone, because its writer may have renamed or deleted it since it was listed.
        const age = await ageOf(path);
        if (age === undefined || age < partKeptMs) return false;
        await rm(path, { force: true });
        return true;
      },
      onFailed: (name, error) => onFailed(join(parts, name), error),
    });
  };
}

async function ageOf(path: string): Promise<number | undefined> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function createRoom(directory: string, freeBytesMin: number) {
  async function freeBytes(): Promise<number> {
    await mkdir(directory, { recursive: true });
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  }

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
      return `The disk that holds ${directory} has ${free} bytes free. Results and files are no longer stored when less than ${freeBytesMin} (results.free_bytes) is free. Free some space, or lower results.retention_days.`;
    },
  };
}
