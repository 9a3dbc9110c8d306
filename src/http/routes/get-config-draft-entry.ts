import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { presentViolation } from '../presenters/config-draft.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const fieldValue = z.union([scalar, z.array(scalar)]).nullable();

export const configDraftEntrySchema = z
  .object({
    object: z.literal('config.draft.entry'),
    revision: z.int().meta({ description: 'Send this when you change a field.' }),
    pointer: z.string(),
    fields: z
      .array(
        z.object({
          pointer: z
            .string()
            .meta({ description: 'The key to use in `set` of `PUT /admin/v1/config/draft`.' }),
          name: z.string(),
          description: z.string(),
          type: z.enum(['text', 'number', 'boolean', 'choice', 'secret', 'texts', 'numbers']).meta({
            description:
              '`texts` and `numbers` are lists. A `number` may also be a keyword, such as `off`. A `secret` is sealed immediately.',
          }),
          options: z.array(z.string()).meta({ description: 'The values of a `choice`.' }),
          required: z.boolean(),
          default: fieldValue.meta({ description: 'Null if the field has no default.' }),
          value: fieldValue.meta({
            description:
              'Null if the draft does not set the field. `${kept}` stands for a secret that the text contains.',
          }),
          mistakes: z.array(z.string()),
        }),
      )
      .meta({ description: 'The fields, in the order of the schema.' }),
    entries: z
      .array(
        z.object({
          pointer: z.string(),
          name: z.string(),
          present: z
            .boolean()
            .meta({ description: 'False for an optional section that the draft does not have yet.' }),
        }),
      )
      .meta({ description: 'The entries directly below this one.' }),
    groups: z
      .array(
        z.object({
          pointer: z
            .string()
            .meta({ description: 'The value to use in `insert` of `PUT /admin/v1/config/draft`.' }),
          name: z.string(),
          description: z.string(),
          key: z
            .enum(['id', 'name', 'none'])
            .meta({ description: 'How a new element is named. If this is `none`, send no name.' }),
        }),
      )
      .meta({ description: 'This entry’s lists and mappings to which elements can be added.' }),
    removable: z.boolean().meta({
      description: 'Whether the entry can be removed. To remove it, set its pointer to null.',
    }),
  })
  .meta({ id: 'ConfigDraftEntry' });

const pointer = z.string().max(1000).default('').meta({
  description:
    'The entry, such as `/channels/main/credentials/first`. Empty for the settings of the whole file.',
});

export function getConfigDraftEntry({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return adminRoute({
    operationId: 'getConfigDraftEntry',
    access: 'configuration',
    unrecorded: 'all',
    summary: 'Get the fields of an entry of the draft',
    description:
      'The fields come from the schema of the configuration, and a form for the entry can be built from them. Fields that only the file may set are left out. Secrets are never shown.',
    method: 'get',
    paths: ['/admin/v1/config/draft/entry'],
    input: z.object({ query: z.object({ pointer }) }),
    success: { description: 'The entry.', schema: configDraftEntrySchema },
    async handle({ query: { pointer: at } }) {
      const { revision, violations, fields, entries, groups, isRemovable } = await drafts.entry(at);
      const mistakes = violations.map(presentViolation);
      return jsonReply({
        object: 'config.draft.entry',
        revision,
        pointer: at,
        fields: fields.map(({ path, isRequired, fallback, ...field }) => ({
          ...field,
          required: isRequired,
          default: fallback,
          mistakes: mistakes
            .filter((one) => one.path === path || one.path.startsWith(`${path}[`))
            .map(({ message }) => message),
        })),
        entries: entries.map(({ isPresent, ...one }) => ({ ...one, present: isPresent })),
        groups,
        removable: isRemovable,
      });
    },
  });
}
