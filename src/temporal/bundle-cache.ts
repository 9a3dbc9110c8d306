import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { z } from 'zod';
import { keptPath, readKept } from '../process/kept-files.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const extension = extname(fileURLToPath(import.meta.url));

export function modulePath(name: string): string {
  return join(root, `${name}${extension}`);
}

export const bundleSchema = z.object({ code: z.string(), sourceMap: z.string() });

/**
 * The name is a hash of everything that goes into the bundle: workflows import only from these directories,
 * package.json pins the version of every package, including the bundler, and bundle-process.ts contains the bundler's
 * options.
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
  for (const name of ['package.json', `src/temporal/bundle-process${extension}`, ...names.flat()]) {
    hash.update(JSON.stringify([name, await readFile(join(root, name), 'utf8')]));
  }
  return keptPath(`workflow-bundles/${hash.digest('hex')}.json`);
}

export function readBundle(path: string): WorkflowBundleWithSourceMap | undefined {
  try {
    return bundleSchema.parse(JSON.parse(readKept(path) ?? ''));
  } catch {
    return undefined;
  }
}
