import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ResultStorage } from './storage.ts';

/** Files below one directory, spread by the last two characters of the task. */
export function createDirectoryStorage(directory: string): ResultStorage {
  const pathOf = (key: string): string => {
    const [task = '', name = ''] = key.split('/');
    return join(directory, task.slice(-2), task, name);
  };
  return {
    async write(key, body) {
      const path = pathOf(key);
      const part = `${path}.${randomUUID()}.part`;
      await mkdir(dirname(path), { recursive: true });
      try {
        await pipeline(body, createWriteStream(part, { flush: true, mode: 0o640 }));
        await rename(part, path);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },

    async stat(key) {
      try {
        const { size, mtimeMs } = await stat(pathOf(key));
        return { bytes: size, etag: `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"` };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    read: (key, range) => Promise.resolve(createReadStream(pathOf(key), { ...range })),

    async remove(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      // The task's directory goes with its last file.
      await rmdir(dirname(path)).catch(() => undefined);
    },

    close: () => undefined,
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
