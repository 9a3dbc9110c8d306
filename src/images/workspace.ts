import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for the files of one request. A request without files makes none. */
export interface ImageWorkspace {
  /** Where the next file may be written once the directory is made. */
  newPath(): string;
  /** To be awaited before a file is written. Repeatable. */
  make(): Promise<void>;
  /** Removes everything. Repeatable. */
  dispose(): Promise<void>;
}

/** The process's directory for the files of requests, which are removed with them. */
export interface ImageWorkspaces {
  readonly directory: string;
  open(): ImageWorkspace;
  close(): Promise<void>;
}

const prefix = 'mediary-images-';
/** No request lives this long: what is older belongs to a process that was killed. */
const abandonedAfterMs = 24 * 3600 * 1000;

export async function openImageWorkspaces(now: () => number, parent = tmpdir()): Promise<ImageWorkspaces> {
  await removeAbandoned(parent, now());
  const directory = await mkdtemp(join(parent, prefix));
  return {
    directory,
    open: () => openWorkspace(join(directory, randomUUID())),
    close: () => remove(directory),
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
      made ??= mkdir(directory, { recursive: true, mode: 0o700 });
      await made;
    },
    async dispose() {
      if (made === undefined) return;
      await made;
      await remove(directory);
    },
  };
}

/** A file that is just being opened may appear while its directory is removed: the removal is retried. */
function remove(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

async function removeAbandoned(parent: string, now: number): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(parent, name);
    const age = await stat(path).then(
      ({ mtimeMs }) => now - mtimeMs,
      () => 0,
    );
    if (age > abandonedAfterMs) await remove(path);
  }
}
