import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { identifyProcess, isSameProcessAlive, processIdentitySchema } from '../process/process-identity.ts';

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
/** Of a directory whose owner this machine cannot see, in another container perhaps. No request lives this long. */
const abandonedAfterMs = 24 * 3600 * 1000;

const ownerSchema = processIdentitySchema.extend({ host: z.string() });

export async function openImageWorkspaces(now: () => number, parent = tmpdir()): Promise<ImageWorkspaces> {
  await removeAbandoned(parent, now);
  const owner = { ...(await identifyProcess(process.pid)), host: hostname() };
  const name = Buffer.from(JSON.stringify(owner)).toString('base64url');
  const directory = await mkdtemp(join(parent, `${prefix}${name}.`));
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

async function removeAbandoned(parent: string, now: () => number): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix) && (await isAbandoned(join(parent, name), now))) {
      await remove(join(parent, name));
    }
  }
}

async function isAbandoned(directory: string, now: () => number): Promise<boolean> {
  const owner = ownerOf(basename(directory));
  if (owner?.host === hostname()) return !(await isSameProcessAlive(owner));
  const found = await stat(directory).catch(() => undefined);
  return found !== undefined && now() - found.mtimeMs > abandonedAfterMs;
}

/** The name says whose it is. */
function ownerOf(name: string): z.infer<typeof ownerSchema> | undefined {
  const [encoded = ''] = name.slice(prefix.length).split('.');
  try {
    return ownerSchema.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return undefined;
  }
}
