import { z } from 'zod';
import type { ConfigChange } from '../../base/config-change.ts';
import type { ShownDraft } from '../../control/config-drafts.ts';
import type { ConfigurationHead } from '../../store/configurations.ts';
import { configChangeSchema, presentConfigChange } from './config.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const configDraftSchema = z
  .object({
    object: z.literal('config.draft'),
    revision: z.int().meta({
      description:
        'Send this with each change. The change is then rejected if somebody else has edited the draft in the meantime.',
    }),
    begun: z.boolean().meta({
      description: 'False if nobody has edited the draft. Its text is then the running configuration.',
    }),
    base: z.int().meta({ description: 'The published version that the draft began from.' }),
    running: z.int().meta({ description: 'The active version.' }),
    publishable: z.boolean().meta({ description: 'False if CONFIG_DRAFTS is `export`.' }),
    text: z.string().meta({
      description:
        'The draft as YAML. `${kept}` stands for a secret that the text contains, and `${sealed:NAME}` for one of `secrets`.',
    }),
    channels: z
      .array(
        z.object({
          id: z.string(),
          provider: z.string(),
          credentials: z.array(z.string()).meta({ description: 'The ids of the credentials.' }),
        }),
      )
      .meta({ description: 'The draft’s channels that have an id and a provider.' }),
    models: z
      .array(
        z.object({
          id: z.string(),
          lines: z.array(
            z.object({
              measure: z.string(),
              price: z.string(),
              when: z.record(z.string(), z.unknown()),
              beyond: z.number(),
            }),
          ),
        }),
      )
      .meta({
        description:
          'The draft’s models that have an id, with their price lines. The lines are omitted while any of them contains errors.',
      }),
    changes: z.array(configChangeSchema).meta({ description: 'The differences from the running version.' }),
    violations: z.array(
      z.object({
        path: z.string().meta({
          description:
            'Where the error is, such as `channels[0].base_url`. Empty if the error concerns the whole file.',
        }),
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
      .meta({ description: 'The edits to the draft, newest last.' }),
    secrets: z
      .array(
        z.object({
          name: z.string(),
          ending: z
            .string()
            .meta({ description: 'The last characters. Empty if the secret is too short to show them.' }),
          created_at: unixSeconds(),
          created_by: z.string(),
          origin: z
            .string()
            .nullable()
            .meta({ description: 'The only server to which the secret may be sent.' }),
          used: z.boolean().meta({ description: 'Whether the draft uses the secret.' }),
        }),
      )
      .meta({ description: 'Secrets that were entered in drafts. They are sealed and never shown.' }),
  })
  .meta({ id: 'ConfigDraft' });

export function presentConfigDraft(draft: ShownDraft): z.output<typeof configDraftSchema> {
  const { revision, isBegun, base, running, isPublishable, text, channels, models, edits, secrets } = draft;
  return {
    object: 'config.draft',
    revision,
    begun: isBegun,
    base,
    running,
    publishable: isPublishable,
    text,
    channels: channels.map(({ credentials, ...channel }) => ({ ...channel, credentials: [...credentials] })),
    models: [...models],
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

export function editChanges({ edits }: ShownDraft, revision: number): readonly ConfigChange[] {
  return edits.find((edit) => edit.revision === revision + 1)?.changes ?? [];
}

export function presentViolation(violation: string) {
  const [, path = '', message = violation] = /^([^\s:]+): (.*)$/s.exec(violation) ?? [];
  return { path, message };
}

export const configVersionSchema = z
  .object({
    version: z.int(),
    hash: z.string().meta({ description: 'The first 12 hex digits of the SHA-256 of the text.' }),
    published_at: unixSeconds(),
    published_by: z.string(),
    reason: z.string(),
  })
  .meta({ id: 'ConfigVersion' });

export function presentConfigVersion({ version, hash, at, by, reason = '' }: ConfigurationHead) {
  return { version, hash, published_at: toSeconds(at), published_by: by, reason };
}
