import { z } from 'zod';
import { jsonBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { configDraftSchema, presentConfigDraft } from '../presenters/config-draft.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const isSent = (value: unknown): boolean => value !== undefined && value !== null;

const body = z
  .object({
    revision: z.int().nonnegative().meta({ description: 'The revision that you have read.' }),
    text: z.string().nullish().meta({ description: 'The whole file, as YAML or JSON.' }),
    set: z.record(z.string(), z.unknown()).nullish().meta({
      description:
        'The values to set, by JSON pointers such as `/models/clip/price/lines`. Send either `set` or `text`. A pointer names a list entry by its id; a new id adds an entry. Null removes the value.',
    }),
  })
  .refine(({ text, set }) => isSent(text) !== isSent(set), {
    path: ['text'],
    message: 'or `set` must be sent, but not both',
  });

export function editConfigDraft({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return adminRoute({
    operationId: 'editConfigDraft',
    access: 'configuration',
    summary: 'Change the draft of the configuration',
    description:
      'A draft with mistakes is stored, so that you can write it in several steps. Its mistakes are listed as `violations` and prevent its publication. Vendor keys are sealed at once and never shown. If somebody else has changed the draft in the meantime, nothing is stored, and the answer says what they changed.',
    method: 'put',
    paths: ['/admin/v1/config/draft'],
    readBody: jsonBody,
    unrecorded: ['text', 'set'],
    input: z.object({ body }),
    success: { description: 'The draft as it is now.', schema: configDraftSchema },
    errors: ['action_not_possible'],
    async handle({ body: { revision, text, set }, operator }) {
      const change = typeof text === 'string' ? { text } : { set: set ?? {} };
      return jsonReply(presentConfigDraft(await drafts.edit(change, revision, operator)));
    },
  });
}
