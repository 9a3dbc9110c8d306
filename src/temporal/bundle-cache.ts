import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Of every module of the gateway: the npm package is compiled. */
const extension = extname(fileURLToPath(import.meta.url));
const cacheDir = join(root, 'node_modules/.cache/workflow-bundles');

/** A module of the gateway, named from its root, without its extension. */
export function modulePath(name: string): string {
  return join(root, `${name}${extension}`);
}

export const bundleSchema = z.object({ code: z.string(), sourceMap: z.string() });

/**
 * Where the bundle of these very sources is kept. The name is the hash of all that goes into it: what workflows import
 * lies in these two directories, and package.json names each package, the bundler too, by one version.
 */
export async function bundlePath(): Promise<string> {
  const directories = ['src/base', 'src/errors', 'src/models', 'src/money', 'src/task', 'workflows'];
  const names = await Promise.all(
    directories.map(async (directory) =>
      (await readdir(join(root, directory), { recursive: true }))
        .filter((name) => name.endsWith(extension))
        .toSorted()
        .map((name) => join(directory, name)),
    ),
  );
  const hash = createHash('sha256');
  for (const name of ['package.json', ...names.flat()]) {
    hash.update(JSON.stringify([name, await readFile(join(root, name), 'utf8')]));
  }
  return join(cacheDir, `${hash.digest('hex')}.json`);
}

/** Undefined when there is none, or not a whole one. */
export async function readBundle(path: string): Promise<WorkflowBundleWithSourceMap | undefined> {
  try {
    return bundleSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Where the directory may not be written, the next start bundles again. */
export async function keepBundle(path: string, bundle: WorkflowBundleWithSourceMap): Promise<void> {
  try {
    await mkdir(cacheDir, { recursive: true });
    const draft = `${path}.${randomUUID()}`;
    await writeFile(draft, JSON.stringify(bundle));
    await rename(draft, path);
  } catch {
    // Nothing is lost but the time of the next start.
  }
}
