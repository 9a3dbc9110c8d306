import { z } from 'zod';
import { isDryRun, optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { configChangeSchema, configSchema, presentConfigChange } from '../presenters/config.ts';
import { replyPublished } from '../published-config.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const changedSchema = z.object({
  object: z.literal('config.changes'),
  changes: z.array(configChangeSchema),
});

export function rollBackConfig({ drafts, nodes }: Pick<RouteDeps, 'drafts' | 'nodes'>): Route {
  return settingRoute({
    operationId: 'rollBackConfig',
    access: 'configuration',
    summary: 'Publish an earlier version of the configuration',
    description: 'The version gets a new number. The response has the same format as that of a publication.',
    method: 'post',
    paths: ['/admin/v1/config/rollback'],
    input: z.object({
      body: z.object({ version: z.int().positive(), reason: optionalReason, dry_run: isDryRun }),
    }),
    success: {
      description:
        'The active configuration, and which processes run it. For a dry run, the changes that would be made.',
      schema: z.union([configSchema, changedSchema]),
    },
    errors: ['action_not_possible'],
    async handle({ body: { dry_run: isTry, ...order }, operator }) {
      if (isTry === true) {
        const changes = await drafts.compare(order.version);
        const shown = changes.map(presentConfigChange);
        return { reply: jsonReply({ object: 'config.changes', changes: shown }), changes: [] };
      }
      const { head, changes } = await drafts.rollBack(order, operator);
      return { reply: await replyPublished(head, nodes), changes };
    },
  });
}
