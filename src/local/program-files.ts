import { access, chmod, constants, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export function exists(path: string): Promise<boolean> {
  return canAccess(path, constants.F_OK);
}

export function isExecutable(path: string): Promise<boolean> {
  return canAccess(path, constants.X_OK);
}

function canAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** `name` in the data directory's bin, with the system's ending. */
export function programPath(dataDir: string, name: string): string {
  return join(dataDir, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/**
 * Inside the data directory, so that the last step of a download is a rename: no half of one is ever taken for a
 * program, and two processes that fetch the same do not disturb each other.
 */
export async function inTemporaryDirectory<T>(
  dataDir: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  await mkdir(dataDir, { recursive: true });
  const directory = await mkdtemp(join(dataDir, 'fetch-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export async function keepProgram(downloaded: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await chmod(downloaded, 0o755);
  const staged = `${path}.${process.pid}`;
  // Copied: a memory server's cache may hand out a link to elsewhere.
  await cp(downloaded, staged, { dereference: true });
  await rename(staged, path);
}
