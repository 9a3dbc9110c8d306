import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { parseVendorFile } from '../../src/config/vendor-files.ts';
import { createExpressions } from '../../src/vendor-files/expressions.ts';
import { verifyVendorFile } from '../../src/vendor-files/verification/verify.ts';
import { exampleFile, examplesFolder } from './support.ts';

const expressions = createExpressions();
afterAll(() => expressions.close());

const names = readdirSync(examplesFolder).map((name) => name.replace('.yaml', ''));

it.each(names)('examples/vendors/%s.yaml passes everything that a vendor file must pass', async (name) => {
  const rows = await verifyVendorFile(exampleFile(name), expressions);
  expect(rows.filter(({ failure }) => failure !== undefined)).toEqual([]);
  const sorts = new Set(rows.map(({ test }) => /^(?:expression|fixture|video|image)/.exec(test)?.[0]));
  const kinds = (['video', 'image'] as const).filter((kind) => exampleFile(name)[`${kind}s`] !== undefined);
  expect(sorts).toEqual(new Set(['expression', 'fixture', ...kinds]));
});

it.each(names)('examples/vendors/%s.yaml is named as its vendor, and says its source and date', (name) => {
  const read = parseVendorFile(readFileSync(`${examplesFolder}/${name}.yaml`, 'utf8'));
  expect('file' in read && read.file.name).toBe(name);
  expect(exampleFile(name).about.read).toMatch(/^\d{4}-\d\d-\d\d$/);
});
