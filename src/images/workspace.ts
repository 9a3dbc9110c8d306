import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whileRoom } from '../errors/not-stored.ts';
import {
  makeTemporaryDirectory,
  removeTemporaryDirectory,
  sweepTemporaryDirectories,
} from '../process/temporary-directories.ts';

export interface ImageWorkspace {
  newPath(): string;
  /** Await this before writing a file. Idempotent. */
  make(): Promise<void>;
  dispose(): Promise<void>;
}

export interface ImageWorkspaces {
  readonly directory: string;
  open(): ImageWorkspace;
  close(): Promise<void>;
}

export async function openImageWorkspaces(now: () => number, parent = tmpdir()): Promise<ImageWorkspaces> {
  await sweepTemporaryDirectories(now, parent);
  const directory = await makeTemporaryDirectory('images', parent);
  return {
    directory,
    open: () => openWorkspace(join(directory, randomUUID())),
    close: () => removeTemporaryDirectory(directory),
  };
}

function openWorkspace(directory: string): ImageWorkspace {
  let made: Promise<unknown> | undefined;
  let files = 0;
  return {
    newPath() {
      files += 1;
      return join(directory, String(files));
    },
    async make() {
      made ??= whileRoom(mkdir(directory, { recursive: true, mode: 0o700 }));
      await made;
    },
    async dispose() {
      if (made === undefined) return;
      await made;
      await removeTemporaryDirectory(directory);
    },
  };
}
