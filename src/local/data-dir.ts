import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { LocalServerError } from './servers/local-options.ts';
import { identifyProcess, isSameProcessAlive, processIdentitySchema } from '../process/process-identity.ts';

export type DataDirLock = { release(): Promise<void> };

export class DataDirInUseError extends LocalServerError {
  constructor(dataDir: string, pid: number) {
    super(`${dataDir} is in use by process ${pid}: stop it, or set DATA_DIR to another directory.`);
  }
}

const claimSchema = processIdentitySchema.extend({ holds: z.boolean() });
type DirectoryClaim = z.infer<typeof claimSchema>;

const attemptsMax = 10;
const backoffMs = 50;

/**
 * Creates the directory if needed, and takes over the directory of a process that has died. Throws DataDirInUseError if
 * another running process holds it.
 *
 * Each process writes its own claim before it looks for others, so of two processes that start at the same moment, at
 * least one sees the other. If both do, both back off and retry.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  // An existing directory may be accessible to other users of this machine.
  await chmod(dataDir, 0o700);
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const name = `lock.${randomUUID()}`;
    const release = (): Promise<void> => rm(join(dataDir, name), { force: true });
    await writeClaim(dataDir, name, false);
    try {
      const rival = await liveRival(dataDir, name);
      if (rival === undefined) {
        await writeClaim(dataDir, name, true);
        return { release };
      }
      if (rival.holds) {
        throw new DataDirInUseError(dataDir, rival.pid);
      }
    } catch (error) {
      await release();
      throw error;
    }
    await release();
    if (attempt < attemptsMax) await sleep(Math.random() * backoffMs * attempt ** 2);
  }
  throw new LocalServerError(`${dataDir} cannot be locked: other processes keep trying to lock it.`);
}

/** Writes the claim under another name and renames it, so that readers never see a partial claim. */
async function writeClaim(dataDir: string, name: string, holds: boolean): Promise<void> {
  const unfinished = join(dataDir, `.${name}`);
  await writeFile(unfinished, JSON.stringify({ ...(await identifyProcess(process.pid)), holds }));
  await rename(unfinished, join(dataDir, name));
}

/**
 * Returns the claim of another running process, preferably one that holds the directory. Removes the claims of dead
 * processes.
 */
async function liveRival(dataDir: string, own: string): Promise<DirectoryClaim | undefined> {
  let rival: DirectoryClaim | undefined;
  for (const name of await readdir(dataDir)) {
    if (name === own || !name.startsWith('lock.')) {
      continue;
    }
    const claim = await readClaim(join(dataDir, name));
    if (claim === 'gone') {
      continue;
    }
    if (claim === 'broken' || !(await isSameProcessAlive(claim))) {
      await rm(join(dataDir, name), { force: true });
    } else if (rival === undefined || claim.holds) {
      rival = claim;
    }
  }
  return rival;
}

async function readClaim(file: string): Promise<DirectoryClaim | 'gone' | 'broken'> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return 'gone';
  }
  try {
    return claimSchema.parse(JSON.parse(text));
  } catch {
    return 'broken';
  }
}
