import { taskKinds } from '../base/task-kind.ts';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { once } from '../base/once.ts';
import { readYaml } from './read-yaml.ts';

export interface ExampleCatalogue {
  readonly channels: readonly CatalogueChannel[];
  readonly models: readonly CatalogueModel[];
}

const channelSchema = z.looseObject({
  id: z.string(),
  provider: z.string(),
  base_url: z.string(),
  models: z.record(z.string(), z.looseObject({ upstream: z.string() })),
});
const modelSchema = z.looseObject({
  id: z.string(),
  kind: z.enum(taskKinds),
  owned_by: z.string().default(''),
  price: z.looseObject({
    minimum: z.string().default('0'),
    lines: z.array(
      z.looseObject({
        measure: z.string(),
        price: z.string(),
        when: z.record(z.string(), z.unknown()).default({}),
        beyond: z.number().default(0),
      }),
    ),
  }),
});

export type CatalogueChannel = z.output<typeof channelSchema>;
export type CatalogueModel = z.output<typeof modelSchema> & {
  readonly written: Readonly<Record<string, unknown>>;
};

const file = new URL('../../gateway.example.yaml', import.meta.url);

export const loadExampleCatalogue = once(async () => readCatalogue(await readFile(file, 'utf8')));

/** Parses one entry at a time, because parsing all of them together would block the event loop for half a second. */
async function readCatalogue(text: string): Promise<ExampleCatalogue> {
  const channels: CatalogueChannel[] = [];
  for (const block of entriesOf(text, 'channels')) {
    await setImmediate();
    channels.push(channelSchema.parse(entryOf(block)));
  }
  const models: CatalogueModel[] = [];
  for (const block of entriesOf(text, 'models')) {
    await setImmediate();
    const entry = entryOf(block);
    const { id: _name, ...written } = z.looseObject({}).parse(entry);
    models.push({ ...modelSchema.parse(entry), written });
  }
  return { channels, models };
}

function entriesOf(text: string, name: string): readonly string[] {
  const [, list = ''] = new RegExp(`^${name}:\\n((?:[ #].*\\n|\\n)*)`, 'm').exec(text) ?? [];
  return list.split(/^(?= {2}- )/m).filter((block) => block.startsWith('  - '));
}

function entryOf(block: string): unknown {
  const read = readYaml(block);
  return 'value' in read && Array.isArray(read.value) ? read.value[0] : undefined;
}
