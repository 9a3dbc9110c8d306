import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { walk, type Walked } from '../base/walk.ts';
import { identifyProcess, isSameProcessAlive, processIdentitySchema } from './process-identity.ts';

const purposes = ['images', 'upload', 'bill'] as const;

export type TemporaryPurpose = (typeof purposes)[number];

const prefixOf = (purpose: TemporaryPurpose): string => `mediary-${purpose}-`;

/**
 * A directory whose owner this machine cannot see may belong to another container. It is considered abandoned after
 * this time, because no request lives that long.
 */
const abandonedAfterMs = 24 * 3600 * 1000;

const ownerSchema = processIdentitySchema.extend({ host: z.string() });

/**
 * The name contains the owner, so that `sweepTemporaryDirectories` can find the directory after the owner was killed.
 */
export async function makeTemporaryDirectory(purpose: TemporaryPurpose, parent = tmpdir()): Promise<string> {
  const owner = { ...(await identifyProcess(process.pid)), host: hostname() };
  const name = Buffer.from(JSON.stringify(owner)).toString('base64url');
  return mkdtemp(join(parent, `${prefixOf(purpose)}${name}.`));
}

/** Retries, because another file may be created while the directory is being removed. */
export function removeTemporaryDirectory(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

/**
 * Removes abandoned directories. Failures are counted rather than thrown, because we cannot remove other users'
 * directories.
 */
export async function sweepTemporaryDirectories(now: () => number, parent = tmpdir()): Promise<Walked> {
  const names = await readdir(parent).catch(() => []);
  return walk(names, {
    loop: 'temporary directories',
    async run(name) {
      const prefix = purposes.map(prefixOf).find((known) => name.startsWith(known));
      if (prefix === undefined) return false;
      const directory = join(parent, name);
      const [owner] = name.slice(prefix.length).split('.');
      if (!(await isAbandoned(directory, ownerOf(owner), now))) return false;
      await removeTemporaryDirectory(directory);
      return true;
    },
    onFailed: () => undefined,
  });
}

type Owner = z.infer<typeof ownerSchema>;

async function isAbandoned(directory: string, owner: Owner | undefined, now: () => number): Promise<boolean> {
  if (owner?.host === hostname()) return !(await isSameProcessAlive(owner));
  const found = await stat(directory).catch(() => undefined);
  return found !== undefined && now() - found.mtimeMs > abandonedAfterMs;
}

function ownerOf(encoded = ''): Owner | undefined {
  try {
    return ownerSchema.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return undefined;
  }
}
