import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { expect, it } from 'vitest';
import { addOperatorCommands } from '../../src/cli/commands.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.js';
import { keyFields } from '../../src/pages/console/key-body.js';

const documentSchema = z.object({
  paths: z.object({
    '/admin/v1/keys': z.object({
      post: z.object({
        requestBody: z.object({
          content: z.object({
            'application/json': z.object({
              schema: z.object({ properties: z.record(z.string(), z.unknown()) }),
            }),
          }),
        }),
      }),
    }),
  }),
});

function apiTerms(): string[] {
  const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  const { paths } = documentSchema.parse(JSON.parse(text));
  const { schema } = paths['/admin/v1/keys'].post.requestBody.content['application/json'];
  return Object.keys(schema.properties).toSorted();
}

const ofOptions: Readonly<Record<string, string>> = {
  link: 'link_valid_seconds',
  day: 'caps',
  month: 'caps',
  total: 'caps',
  model: 'caps',
};

async function lineTerms(): Promise<string[]> {
  const program = createProgram();
  await addOperatorCommands(program, {} as CliContext, ['keys']);
  const keys = program.commands.find((command) => command.name() === 'keys');
  const create = keys?.commands.find((command) => command.name() === 'create');
  const shared = new Set(
    keys?.commands.find((command) => command.name() === 'list')?.options.map(({ long }) => long),
  );
  const options = create?.options
    .filter(({ long }) => !shared.has(long))
    .map((option) => option.attributeName());
  const named = options?.map(
    (name) => ofOptions[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  const given = create?.registeredArguments.map((argument) => argument.name());
  return [...new Set([...(named ?? []), ...(given ?? [])])].toSorted();
}

it('the API, the command line and the console accept the same', async () => {
  const api = apiTerms();
  expect(api).toContain('concurrent_tasks');
  expect(await lineTerms()).toEqual(api);
  const dialog = keyFields({ models: [], channels: [] }, 'USD', () => true).map(
    ({ name, param = name }) => param,
  );
  expect([...new Set(['account', ...dialog])].toSorted()).toEqual(api);
});
