import { z } from 'zod';
import type { ConfigChange } from '../../base/config-change.ts';
import type { ConfigurationHead } from '../../store/configurations.ts';
import { nodeSchema, presentNode } from './node.ts';
import type { Node } from '../../store/nodes.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const configSchema = z
  .object({
    object: z.literal('config'),
    version: z.number().int().meta({ description: 'Increases by one with each publication.' }),
    hash: z.string().meta({ description: 'The first 12 hex digits of the SHA-256 of the text.' }),
    published_at: unixSeconds(),
    published_by: z.string().meta({
      description:
        'The operator. `signal` stands for a SIGHUP, and `start` for the first start of a process with this configuration.',
    }),
    published_on: z
      .string()
      .meta({ description: 'The process whose file was published, as `<host>/<pid>/<run>`.' }),
    nodes: z.array(nodeSchema).meta({ description: 'The version that each process runs.' }),
  })
  .meta({ id: 'Config' });

const shown = z.string().nullable();

export const configChangeSchema = z
  .object({
    path: z.string().meta({
      description:
        'The path of the value, such as `models.clip.price.lines[3].price`. List entries are identified by their ids. Entries without ids are identified by their index, which refers to the old list if they were removed and to the new list otherwise.',
    }),
    kind: z.enum(['added', 'removed', 'changed']),
    before: shown.meta({
      description: 'The value as JSON. Null if the value is absent, is a whole entry, or may be a secret.',
    }),
    after: shown,
  })
  .meta({ id: 'ConfigChange' });

export function presentConfigChange(change: ConfigChange): z.output<typeof configChangeSchema> {
  const { path, kind, before, after } = change;
  return { path, kind, before: before ?? null, after: after ?? null };
}

export function presentConfig(
  { version, hash, at, by, node }: ConfigurationHead,
  nodes: readonly Node[],
): z.output<typeof configSchema> {
  return {
    object: 'config',
    version,
    hash,
    published_at: toSeconds(at),
    published_by: by,
    published_on: node,
    nodes: nodes.map(presentNode),
  };
}
