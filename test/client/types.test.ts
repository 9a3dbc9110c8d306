import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createDocument } from '../../src/http/openapi.ts';
import { servedDocument } from '../../src/http/served-document.ts';
import { clientTypes } from '../../workshop/client-types.ts';
import { declaredRoutes, documentText, optionalParts } from '../../workshop/document.ts';

const unformatted = (text: string) => text.replaceAll(/[\s|()'"]/g, '');

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

it('docs/openapi.json is the document of all routes', () => {
  const isCurrent = read('docs/openapi.json') === documentText();
  expect(isCurrent, 'npm run document writes it anew').toBe(true);
});

it.each(['operatorAuth', 'keptResults', 'storedFiles', 'nothing'])(
  'a gateway without %s serves the part that describes its routes',
  (absent) => {
    const parts = Object.entries(optionalParts).filter(([name]) => name !== absent);
    const routes = declaredRoutes(Object.fromEntries(parts));
    const document: unknown = JSON.parse(JSON.stringify(createDocument(routes)));
    expect(servedDocument(routes)).toEqual(document);
  },
);

it('the types of the client are those of the document', () => {
  const written = read('src/client/types.ts');
  const isCurrent = unformatted(written) === unformatted(clientTypes());
  expect(isCurrent, 'npm run document writes them anew').toBe(true);
});
