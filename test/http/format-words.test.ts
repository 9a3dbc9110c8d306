import { expect, it } from 'vitest';
import type { z } from 'zod';
import { createApp } from '../../src/http/app.ts';
import { useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('http_format_words');

type Schema = z.core.$ZodType;
interface Def {
  readonly check?: string;
  readonly error?: (issue: object) => unknown;
  readonly checks?: readonly { readonly _zod: { readonly def: Def } }[];
  readonly [part: string]: unknown;
}

const isSchema = (part: unknown): part is Schema =>
  typeof part === 'object' && part !== null && '_zod' in part;

/** The formats that a request's strings must have, with the sentence that a caller reads if one does not. */
function formatsIn(schema: Schema, path: string, seen = new Set<Schema>()): [string, unknown][] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const def = schema._zod.def as unknown as Def;
  const own = [def, ...(def.checks ?? []).map((check) => check._zod.def)]
    .filter(({ check }) => check === 'string_format')
    .map(({ error }): [string, unknown] => [path, error?.({})]);
  const parts = Object.entries({ ...def, ...(def['shape'] as object | undefined) });
  const below = parts.flatMap(([name, part]) =>
    [part].flat().flatMap((one) => (isSchema(one) ? formatsIn(one, `${path}.${name}`, seen) : [])),
  );
  return [...own, ...below];
}

it('a format that a request must have is described by a sentence of its own', () => {
  const formats = createApp(world.deps).routes.flatMap(({ operationId, input }) =>
    formatsIn(input, operationId),
  );
  expect(formats.map(([path]) => path)).toEqual(
    expect.arrayContaining([expect.stringContaining('createKey'), expect.stringContaining('Statement')]),
  );
  expect(formats.filter(([, words]) => !/^must [^]+[^.]$/.test(String(words)))).toEqual([]);
});

it('the sentence reaches the caller', async () => {
  const { id: account } = await world.newAccount();
  const month = await world.admin('GET', `/accounts/${account}/statement?month=2026-1`);
  expect(month.body.error.message).toBe('The parameter month must be a month such as 2026-11.');
  const key = await world.admin('POST', '/keys', { account, resolution_max: 'large' });
  expect(key.body.error.message).toBe(
    'The parameter resolution_max must be a resolution, such as 720p, 1080p or 4k.',
  );
});
