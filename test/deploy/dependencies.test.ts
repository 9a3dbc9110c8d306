import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
const largeMegabytes = 5;
const blockBytes = 4096;

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })),
});

/** Returns the size on disk, excluding nested packages, which are counted separately. */
function bytesOf(directory: string): number {
  let sum = blockBytes;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) sum += entry.name === 'node_modules' ? 0 : bytesOf(path);
    else sum += Math.ceil(lstatSync(path).size / blockBytes) * blockBytes;
  }
  return sum;
}

const { packages } = lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
/** npm does not install optional packages for other platforms. */
const isInstalled = (path: string) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
const installed = Object.entries(packages)
  .filter(([path, { dev }]) => path !== '' && dev !== true && isInstalled(path))
  .map(([path]) => ({
    /** The package with native code has a different name on each platform. */
    name: path.replace(/^.*node_modules\//, '').replace(/^(@swc\/core)-.*/, '$1'),
    megabytes: bytesOf(join(root, path)) / 2 ** 20,
  }));

const [, section = ''] = readFileSync(join(root, 'docs/contributing.md'), 'utf8').split(
  '## A large dependency\n',
);
const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` \| (\d+) \| (.+) \|$/gm)].map(
  ([, name = '', megabytes = '', reason = '']) => ({ name, megabytes: Number(megabytes), reason }),
);

it('docs/contributing.md justifies each package above 5 MB that production installs, and no other', () => {
  const large = installed.filter(({ megabytes }) => megabytes > largeMegabytes);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(large.map(({ name }) => name).toSorted());
  for (const { reason } of rows) expect(reason).toMatch(/ /);
});

it.each(rows)('$name: about as large as stated', ({ name, megabytes }) => {
  const actual = installed.find((one) => one.name === name && one.megabytes > largeMegabytes)?.megabytes;
  expect(Math.abs((actual ?? 0) - megabytes)).toBeLessThan(Math.max(2, megabytes / 10));
});

it('the total matches docs/benchmarks.md', () => {
  const [, documented] =
    /^\| size of an installation .*?\| (\d+) MB/m.exec(
      readFileSync(join(root, 'docs/benchmarks.md'), 'utf8'),
    ) ?? [];
  const total = installed.reduce((sum, { megabytes }) => sum + megabytes, 0);
  expect(Math.abs(total - Number(documented))).toBeLessThan(30);
});
