import { z } from 'zod';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { queryNumber } from '../query-fields.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function discardConfigDraft({ drafts }: Pick<RouteDeps, 'drafts'>): Route {
  return adminRoute({
    operationId: 'discardConfigDraft',
    access: 'configuration',
    summary: 'Discard the configuration draft',
    description: 'The next change begins from the running configuration.',
    method: 'delete',
    paths: ['/admin/v1/config/draft'],
    input: z.object({
      query: z.object({
        revision: queryNumber(z.int().nonnegative()).meta({
          description: 'The revision that you have read.',
        }),
        reason: optionalReason,
      }),
    }),
    success: {
      description: 'The draft is discarded.',
      schema: z.object({ object: z.literal('config.draft'), discarded: z.literal(true) }),
    },
    errors: ['action_not_possible'],
    async handle({ query: { revision } }) {
      await drafts.discard(revision);
      return jsonReply({ object: 'config.draft', discarded: true });
    },
  });
}
