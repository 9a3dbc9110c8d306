import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { z } from 'zod';

/** The pid alone is not enough, because systems reuse pids. */
export const processIdentitySchema = z.object({ pid: z.number().int().positive(), startedAt: z.string() });
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/**
 * Returns undefined if the process does not exist. `startedAt` is empty if the system does not report start times
 * (Windows).
 */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (!isAlive(pid)) {
    return undefined;
  }
  return { pid, startedAt: (await startFromProc(pid)) ?? (await startFromPs(pid)) ?? '' };
}

export async function isSameProcessAlive(known: ProcessIdentity): Promise<boolean> {
  const current = await identifyProcess(known.pid);
  return current !== undefined && current.startedAt === known.startedAt;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Field 22 of Linux's /proc/PID/stat is the start in ticks since boot. Field 2 (the name) may contain spaces and
 * parentheses.
 */
async function startFromProc(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

async function startFromPs(pid: number): Promise<string | undefined> {
  try {
    // Fix the locale and time zone so that every process gets the same output for the same PID.
    const command = `LC_ALL=C TZ=UTC ps -o lstart= -p ${pid}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    return stdout.trim();
  } catch {
    return undefined;
  }
}
