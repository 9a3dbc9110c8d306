import { z } from 'zod';
import { reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { configSchema } from '../presenters/config.ts';
import { replyPublished } from '../published-config.ts';
import { settingRoute, type Route } from '../route.ts';

export function publishConfigDraft({ drafts, nodes }: Pick<RouteDeps, 'drafts' | 'nodes'>): Route {
  return settingRoute({
    operationId: 'publishConfigDraft',
    access: 'configuration',
    summary: 'Publish the configuration draft to all processes',
    description:
      'Responds once every process runs the version or has reported why it cannot load it (`nodes[].refused`), and after five seconds at the latest. Tasks in flight keep their price and their channel.',
    method: 'post',
    paths: ['/admin/v1/config/draft/publish'],
    input: z.object({
      body: z.object({
        revision: z.int().nonnegative().meta({ description: 'The revision that you have read.' }),
        over: z.int().positive().optional().meta({
          description:
            'Confirms that the draft replaces this version, which was published after the draft began.',
        }),
        reason,
      }),
    }),
    success: {
      description: 'The active configuration, and which processes run it.',
      schema: configSchema,
    },
    errors: ['action_not_possible'],
    async handle({ body, operator }) {
      const { head, changes } = await drafts.publish(body, operator);
      return { reply: await replyPublished(head, nodes), changes };
    },
  });
}
