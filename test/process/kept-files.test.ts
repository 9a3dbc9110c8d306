import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { keptPath, readKept } from '../../src/process/kept-files.js';
import { builtInFile } from '../../src/providers/vendor-files/built-in.ts';

it('a built-in vendor file is cached, and parsed again if the cached value is damaged', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-built-in-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const source = new URL('../../src/providers/luma/luma.yaml', import.meta.url);
  const text = `${await readFile(source, 'utf8')}\n# ${randomUUID()}\n`;
  const file = join(directory, 'luma.yaml');
  await writeFile(file, text);
  const path = keptPath(`vendor-files/${createHash('sha256').update(text).digest('hex')}.json`);
  onTestFinished(() => rm(path));
  const parsed = builtInFile(pathToFileURL(file));
  const kept = readKept(path) ?? '';
  expect(builtInFile(pathToFileURL(file))).toEqual(parsed);
  await writeFile(path, kept.slice(0, -1));
  expect(builtInFile(pathToFileURL(file))).toEqual(parsed);
  expect(readKept(path)).toBe(kept);
});
