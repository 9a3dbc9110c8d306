import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeStates } from '../support/state-table.ts';

it('the states match docs/states.md (UPDATE_DOCS=1 writes the page)', () => {
  const page = new URL('../../docs/states.md', import.meta.url);
  const text = describeStates();
  // oxlint-disable-next-line node/no-process-env -- a switch of this test, not of the product
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, text);
  expect(readFileSync(page, 'utf8')).toBe(text);
});
