import { z } from 'zod';
import { jsonBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { configDraftSchema, presentConfigDraft } from '../presenters/config-draft.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const body = z
  .object({
    revision: z.int().nonnegative().meta({ description: 'The one that you have read.' }),
    text: z.string().optional().meta({ description: 'The whole file, as YAML or JSON.' }),
    set: z.record(z.string(), z.unknown()).optional().meta({
      description:
        'In place of `text`: values by JSON pointers, such as `/models/clip/price/lines`. Entries of lists are named by their ids; a new id adds an entry. Null removes.',
    }),
  })
  .refine(({ text, set }) => (text === undefined) !== (set === undefined), {
    path: ['text'],
    message: 'must be sent, or `set`, and not both',
  });

export function editConfigDraft({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return adminRoute({
    operationId: 'editConfigDraft',
    access: 'configuration',
    summary: 'Change the draft of the configuration',
    description:
      'Mistakes are stored and listed as `violations`, so that a draft can be written in several steps; they prevent its publication. A key of a vendor that is written in the draft is sealed at once and never shown. If somebody else has changed the draft meanwhile, the answer says what they changed, and nothing is stored.',
    method: 'put',
    paths: ['/admin/v1/config/draft'],
    readBody: jsonBody,
    unrecorded: ['text', 'set'],
    input: z.object({ body }),
    success: { description: 'The draft as it is now.', schema: configDraftSchema },
    errors: ['action_not_possible'],
    async handle({ body: { revision, text, set = {} }, operator }) {
      const change = text === undefined ? { set } : { text };
      return jsonReply(presentConfigDraft(await drafts.edit(change, revision, operator)));
    },
  });
}
