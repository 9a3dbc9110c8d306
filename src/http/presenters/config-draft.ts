import { z } from 'zod';
import type { ShownDraft } from '../../control/config-drafts.ts';
import type { ConfigurationHead } from '../../store/configurations.ts';
import { configChangeSchema, presentConfigChange } from './config.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const configDraftSchema = z
  .object({
    object: z.literal('config.draft'),
    revision: z.int().meta({ description: 'Send it with each change: it says what you have read.' }),
    begun: z
      .boolean()
      .meta({ description: 'False: nobody has changed anything, and the text is the running one.' }),
    base: z.int().meta({ description: 'The published version that the draft began from.' }),
    running: z.int().meta({ description: 'The version that is published now.' }),
    publishable: z.boolean().meta({ description: 'False: CONFIG_DRAFTS is `export`.' }),
    text: z.string().meta({
      description:
        'YAML. `${kept}` stands for a secret that a file holds, and `${sealed:NAME}` for one of `secrets`.',
    }),
    changes: z.array(configChangeSchema).meta({ description: 'What differs from the running version.' }),
    violations: z.array(
      z.object({
        path: z.string().meta({ description: 'Such as `channels[0].base_url`. Empty: the whole file.' }),
        message: z.string(),
      }),
    ),
    edits: z
      .array(
        z.object({
          revision: z.int(),
          by: z.string(),
          at: unixSeconds(),
          changes: z.array(configChangeSchema),
        }),
      )
      .meta({ description: 'Who changed what in the draft, the newest last.' }),
    secrets: z
      .array(
        z.object({
          name: z.string(),
          ending: z.string().meta({ description: 'The last characters. Empty: the secret is short.' }),
          created_at: unixSeconds(),
          created_by: z.string(),
          origin: z.string().nullable().meta({ description: 'The only server that it may be sent to.' }),
          used: z.boolean().meta({ description: 'Whether the draft names it.' }),
        }),
      )
      .meta({ description: 'Secrets that were written in drafts. They are sealed and never shown.' }),
  })
  .meta({ id: 'ConfigDraft' });

export function presentConfigDraft(draft: ShownDraft): z.output<typeof configDraftSchema> {
  const { revision, isBegun, base, running, isPublishable, text, edits, secrets } = draft;
  return {
    object: 'config.draft',
    revision,
    begun: isBegun,
    base,
    running,
    publishable: isPublishable,
    text,
    changes: draft.changes.map(presentConfigChange),
    violations: draft.violations.map(presentViolation),
    edits: edits.map(({ at, changes, ...edit }) => ({
      ...edit,
      at: toSeconds(at),
      changes: changes.map(presentConfigChange),
    })),
    secrets: secrets.map(({ name, ending, at, by, origin, isUsed }) => ({
      name,
      ending,
      created_at: toSeconds(at),
      created_by: by,
      origin: origin ?? null,
      used: isUsed,
    })),
  };
}

function presentViolation(violation: string) {
  const [, path = '', message = violation] = /^([^\s:]+): (.*)$/s.exec(violation) ?? [];
  return { path, message };
}

export const configVersionSchema = z
  .object({
    version: z.int(),
    hash: z.string().meta({ description: 'Of the text: 12 hex digits of its SHA-256.' }),
    published_at: unixSeconds(),
    published_by: z.string(),
    reason: z.string(),
  })
  .meta({ id: 'ConfigVersion' });

export function presentConfigVersion({ version, hash, at, by, reason = '' }: ConfigurationHead) {
  return { version, hash, published_at: toSeconds(at), published_by: by, reason };
}
