import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LocalServerError, systemCodeOf } from './local-options.ts';
import {
  identifyProcess,
  isSameProcessAlive,
  processIdentitySchema,
  type ProcessIdentity,
} from './process-identity.ts';

export type DataDirLock = { release(): Promise<void> };

const attemptsMax = 5;

/**
 * Takes a data directory for this process alone, making it if needed. Throws a LocalServerError if another live
 * process has it; what a dead one has left is taken over.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'lock');
  const own = await identifyProcess(process.pid);
  const claim = `${file}.${process.pid}`;
  await writeFile(claim, JSON.stringify(own));
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      // A link appears with its content or not at all, and never over another one.
      if (await linked(claim, file)) {
        return { release: () => rm(file, { force: true }) };
      }
      await removeStale(file, dataDir);
    }
    throw new LocalServerError(`${dataDir} cannot be locked: other processes keep taking it.`);
  } finally {
    await rm(claim, { force: true });
  }
}

async function linked(claim: string, file: string): Promise<boolean> {
  try {
    await link(claim, file);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

async function removeStale(file: string, dataDir: string): Promise<void> {
  await refuseIfAlive(await readHolder(file), dataDir);
  const aside = `${file}.stale.${process.pid}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') {
      return;
    }
    throw error;
  }
  // Between reading and renaming, another process may have taken it over: then what moved is its live lock.
  const moved = await readHolder(aside);
  if (moved !== undefined && (await isSameProcessAlive(moved))) {
    await linked(aside, file);
  }
  await rm(aside, { force: true });
  await refuseIfAlive(moved, dataDir);
}

async function refuseIfAlive(holder: ProcessIdentity | undefined, dataDir: string): Promise<void> {
  if (holder !== undefined && (await isSameProcessAlive(holder))) {
    throw new LocalServerError(
      `${dataDir} is in use by process ${holder.pid}: stop it, or set DATA_DIR to another directory.`,
    );
  }
}

async function readHolder(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return processIdentitySchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}
