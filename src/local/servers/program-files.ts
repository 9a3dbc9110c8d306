import { access, chmod, constants, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { walk } from '../../base/walk.ts';

const temporaryPrefix = 'fetch-';
/** In milliseconds. No download takes this long. */
const abandonedAfterMs = 3_600_000;

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

export function programPath(dataDir: string, name: string): string {
  return join(dataDir, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/**
 * Creates a temporary directory inside the data directory, so that the result can be renamed into place. A partial
 * download is therefore never mistaken for a program, and two processes can download the same file.
 */
export async function inTemporaryDirectory<T>(
  dataDir: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  await mkdir(dataDir, { recursive: true });
  await removeAbandoned(dataDir);
  const directory = await mkdtemp(join(dataDir, temporaryPrefix));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function removeAbandoned(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(temporaryPrefix));
  await walk(names, {
    loop: 'downloads left behind',
    async run(name) {
      const directory = join(dataDir, name);
      const found = await stat(directory);
      if (found.mtimeMs >= Date.now() - abandonedAfterMs) return false;
      await rm(directory, { recursive: true, force: true });
      return true;
    },
    // Continue with the download even if another user's directory cannot be removed.
    onFailed: () => undefined,
  });
}

export async function keepProgram(downloaded: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await chmod(downloaded, 0o700);
  const staged = `${path}.${process.pid}`;
  // Copy instead of renaming, because the downloaded path may be a link.
  await cp(downloaded, staged, { dereference: true });
  await rename(staged, path);
}
