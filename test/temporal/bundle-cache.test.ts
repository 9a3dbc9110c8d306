import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundlePath, keepBundle, readBundle } from '../../src/temporal/bundle-cache.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-bundle-'));
});
afterAll(() => rm(directory, { recursive: true }));

const bundle = { code: 'workflows', sourceMap: 'none' };

it('names a bundle by what it is made of', async () => {
  expect(basename(await bundlePath())).toMatch(/^[0-9a-f]{64}\.json$/);
  expect(await bundlePath()).toBe(await bundlePath());
});

it('keeps a whole bundle, and leaves no draft beside it', async () => {
  const path = join(directory, 'whole.json');
  await keepBundle(path, bundle);
  expect(await readBundle(path)).toEqual(bundle);
  expect(await readdir(directory)).toEqual(['whole.json']);
});

it.each([
  ['cut short', JSON.stringify(bundle).slice(0, -3)],
  ['of another shape', '{"code":1}'],
])('does not read a bundle that is %s', async (_, text) => {
  const path = join(directory, 'broken.json');
  await writeFile(path, text);
  expect(await readBundle(path)).toBeUndefined();
});

it('is not needed: where none can be kept, none is found', async () => {
  const path = join(directory, 'no-directory', 'bundle.json');
  await keepBundle(path, bundle);
  expect(await readBundle(path)).toBeUndefined();
});
