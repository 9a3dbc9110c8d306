import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { clientTypes } from '../../workshop/client-types.ts';

/** The formatter breaks lines, and puts brackets around what it breaks. */
const unformatted = (text: string) => text.replaceAll(/[\s|()'"]/g, '');

it('the types of the client are those of the document', () => {
  const written = readFileSync(new URL('../../src/client/types.ts', import.meta.url), 'utf8');
  const isCurrent = unformatted(written) === unformatted(clientTypes());
  expect(isCurrent, 'npm run client-types writes them anew').toBe(true);
});
