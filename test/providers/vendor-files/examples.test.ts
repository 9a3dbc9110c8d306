import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parseVendorFile } from '../../../src/config/vendor-files.ts';
import { builtInFiles } from '../../../src/providers/index.ts';
import { createExpressions } from '../../../src/providers/vendor-files/expressions.ts';
import { verifyVendorFile } from '../../../src/providers/vendor-files/verification/verify.ts';
import { examplesFolder } from './support.ts';

const expressions = createExpressions();
afterAll(() => expressions.close());

const builtIn = Object.keys(builtInFiles).map((name) => `src/providers/${name}/${name}.yaml`);
const examples = readdirSync(examplesFolder).map((name) => `examples/vendors/${name}`);

describe.each([...builtIn, ...examples])('%s', (path) => {
  const text = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
  const read = parseVendorFile(text);
  if (!('file' in read)) throw new Error(read.violations.join('\n'));
  const { file } = read;

  it('passes all the tests for vendor files', async () => {
    const rows = await verifyVendorFile(file, expressions);
    expect(rows.filter(({ failure }) => failure !== undefined)).toEqual([]);
    const sorts = new Set(rows.map(({ test }) => /^(?:expression|fixture|video|image)/.exec(test)?.[0]));
    const kinds = (['video', 'image'] as const).filter((kind) => file[`${kind}s`] !== undefined);
    expect(sorts).toEqual(new Set(['expression', 'fixture', ...kinds]));
  });

  it('is named after its vendor, and contains its source and date', () => {
    expect(path.endsWith(`/${file.name}.yaml`)).toBe(true);
    expect(file.about.read).toMatch(/^\d{4}-\d\d(?:-\d\d)?$/);
  });
});
