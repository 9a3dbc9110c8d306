import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { configDraftSchema, presentConfigDraft } from '../presenters/config-draft.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function getConfigDraft({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return adminRoute({
    operationId: 'getConfigDraft',
    access: 'configuration',
    unrecorded: 'all',
    summary: 'Get the configuration draft',
    description:
      'Until somebody edits it, the draft is identical to the running configuration. It shows the names of secrets, never their values.',
    method: 'get',
    paths: ['/admin/v1/config/draft'],
    input: z.object({}),
    success: { description: 'The draft.', schema: configDraftSchema },
    async handle() {
      return jsonReply(presentConfigDraft(await drafts.show()));
    },
  });
}
