import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { whileRoom } from '../errors/not-stored.ts';
import { identifyProcess, isSameProcessAlive, processIdentitySchema } from '../process/process-identity.ts';

export interface ImageWorkspace {
  newPath(): string;
  /** Must be awaited before a file is written. Idempotent. */
  make(): Promise<void>;
  dispose(): Promise<void>;
}

export interface ImageWorkspaces {
  readonly directory: string;
  open(): ImageWorkspace;
  close(): Promise<void>;
}

const prefix = 'mediary-images-';
/**
 * For directories whose owner this machine cannot see, perhaps because it runs in another container. No request lives
 * this long.
 */
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
      made ??= whileRoom(mkdir(directory, { recursive: true, mode: 0o700 }));
      await made;
    },
    async dispose() {
      if (made === undefined) return;
      await made;
      await remove(directory);
    },
  };
}

/** Repeats the removal, because a file that is just being created may still appear. */
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

function ownerOf(name: string): z.infer<typeof ownerSchema> | undefined {
  const [encoded = ''] = name.slice(prefix.length).split('.');
  try {
    return ownerSchema.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return undefined;
  }
}
