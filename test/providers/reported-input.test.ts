import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../src/providers/', import.meta.url);
const sourceOf = (folder: string) => {
  const at = new URL(`${folder}/`, root);
  return readdirSync(at).map((name) => readFileSync(new URL(name, at), 'utf8'));
};
const adapters = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['shared', 'vendor-files'].includes(entry.name))
  .map(({ name }) => [name, sourceOf(name).join('\n')] as const);

const withText = (text: RegExp) => adapters.filter(([, source]) => text.test(source)).map(([name]) => name);

it('exactly the adapters that read the seconds of input videos from responses declare that in their facts', () => {
  const reading = withText(/\binputSeconds[:,]/);
  expect(reading).not.toEqual([]);
  expect(withText(/\binput_seconds_reported: true/)).toEqual(reading);
});
