import { z } from 'zod';
import type { DraftChange } from '../../control/config-drafts.ts';
import { jsonBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { configDraftSchema, editChanges, presentConfigDraft } from '../presenters/config-draft.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const isSent = <Value>(value: Value): value is NonNullable<Value> => value !== undefined && value !== null;

const body = z
  .object({
    revision: z.int().nonnegative().meta({ description: 'The revision that you have read.' }),
    text: z.string().nullish().meta({ description: 'The whole file, as YAML or JSON.' }),
    set: z.record(z.string(), z.unknown()).nullish().meta({
      description:
        'The values to set, by JSON pointers such as `/models/clip/price/lines`. A pointer names a list entry by its id. A new id adds an entry, and `-` adds one at the end. Null removes the value.',
    }),
    insert: z
      .object({
        pointer: z.string().max(1000).meta({ description: 'The list or mapping, such as `/channels`.' }),
        name: z.string().max(300).optional().meta({
          description: 'The id of the element, or its name in the mapping. Omit it for a list without ids.',
        }),
      })
      .nullish()
      .meta({
        description:
          'Adds an element to one of the `groups` of an entry. The new element contains only what the schema requires. Set its fields with `set`.',
      }),
  })
  .refine(({ text, set, insert }) => [text, set, insert].filter(isSent).length === 1, {
    path: ['text'],
    message: 'cannot be combined with `set` or `insert`, and one of the three is required',
  });

export function editConfigDraft({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return settingRoute({
    operationId: 'editConfigDraft',
    access: 'configuration',
    summary: 'Change the configuration draft',
    description:
      'A draft with errors is stored, so that you can write it in several steps. Its errors are listed as `violations` and prevent its publication. Vendor keys are sealed immediately and never shown. If somebody else has changed the draft in the meantime, nothing is stored, and the response says what they changed.',
    method: 'put',
    paths: ['/admin/v1/config/draft'],
    readBody: jsonBody,
    unrecorded: ['text', 'set'],
    input: z.object({ body }),
    success: { description: 'The draft as it is now.', schema: configDraftSchema },
    errors: ['action_not_possible'],
    async handle({ body: { revision, ...sent }, operator }) {
      const draft = await drafts.edit(changeOf(sent), revision, operator);
      return { reply: jsonReply(presentConfigDraft(draft)), changes: editChanges(draft, revision) };
    },
  });
}

function changeOf({ text, set, insert }: Omit<z.output<typeof body>, 'revision'>): DraftChange {
  if (typeof text === 'string') return { text };
  return isSent(insert) ? { insert } : { set: set ?? {} };
}
