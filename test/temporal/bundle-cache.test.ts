import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keep } from '../../src/process/kept-files.js';
import { bundlePath, readBundle } from '../../src/temporal/bundle-cache.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-bundle-'));
});
afterAll(() => rm(directory, { recursive: true }));

const bundle = { code: 'workflows', sourceMap: 'none' };

it('names a bundle by its sources', async () => {
  expect(basename(await bundlePath())).toMatch(/^[0-9a-f]{64}\.json$/);
  expect(await bundlePath()).toBe(await bundlePath());
});

it('keeps a whole bundle, and leaves no partial one', async () => {
  const path = join(directory, 'whole.json');
  keep(path, JSON.stringify(bundle));
  expect(readBundle(path)).toEqual(bundle);
  expect(await readdir(directory)).toEqual(['whole.json']);
});

it.each([
  ['cut short', JSON.stringify(bundle).slice(0, -3)],
  ['of another shape', '{"code":1}'],
])('does not read a bundle that is %s', async (_, text) => {
  const path = join(directory, 'broken.json');
  await writeFile(path, text);
  expect(readBundle(path)).toBeUndefined();
});

it('is optional: if none can be stored, none is found', async () => {
  const path = join(directory, 'file', 'bundle.json');
  await writeFile(dirname(path), '');
  keep(path, JSON.stringify(bundle));
  expect(readBundle(path)).toBeUndefined();
});
