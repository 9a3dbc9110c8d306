import { z } from 'zod';
import { rescuableClasses } from '../../task/rescue.ts';
import { explainRoute as explain } from '../../routing/explain.ts';
import { explainErrors, explainedBodySchema, parseExplained } from '../explained-request.ts';
import type { ExplainedDeps } from '../explained-request.ts';
import type { RouteDeps } from '../deps.ts';
import { channelHealthSchema, presentHealth } from '../presenters/channel-health.ts';
import { candidatesSchema, droppedSchema } from '../presenters/estimate.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const fallbackSchema = z
  .object({
    channels: z.array(z.string()).meta({ description: 'The model’s fallback channels, in order.' }),
    candidates: candidatesSchema.meta({
      description:
        'The fallback channels that this request could use. If there are none, a failed job ends the task.',
    }),
    on: z
      .array(z.enum(rescuableClasses))
      .meta({ description: 'The classes of failures that lead to the fallback.' }),
    allow_moderation: z
      .boolean()
      .meta({ description: 'Whether content that one vendor rejected may be sent to another.' }),
  })
  .meta({
    description:
      'The channels to which another job is submitted after one has failed and is not billed. Absent if a failed job ends its task.',
  });

const explainedCandidates = z.array(
  z.object({
    channel: z.string(),
    credential: z.string(),
    waits: z.boolean().meta({
      description:
        'True if the channel cannot be used at the moment, so that a task would have to wait for it.',
    }),
    detail: z.string().meta({ description: 'Why the channel cannot be used normally. Empty if it can.' }),
  }),
);

const routeSchema = z.object({
  candidates: explainedCandidates,
  dropped: droppedSchema,
  health: z
    .array(channelHealthSchema)
    .meta({ description: 'The model’s channels whose health is not `serving`.' }),
  fallback: fallbackSchema.optional(),
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
});

export function explainRoute(deps: ExplainedDeps & Pick<RouteDeps, 'readHealth'>): Route {
  return adminRoute({
    operationId: 'explainRoute',
    access: 'read',
    summary: 'Explain which channels a request would try',
    description:
      'Lists the channels in the order in which one request might try them, explains why the others would not be tried, and shows which channels would replace a failed job. The order varies if channels have the same priority. Creates nothing.',
    method: 'post',
    paths: ['/admin/v1/routes/explain'],
    input: z.object({ body: explainedBodySchema }),
    success: { description: 'The candidates and the excluded channels.', schema: routeSchema },
    errors: explainErrors,
    async handle({ body }) {
      const [explained, health] = await Promise.all([parseExplained(body, deps), deps.readHealth()]);
      const route = explain(deps.catalogue, explained, health);
      return jsonReply({ ...route, health: route.health.map(presentHealth) });
    },
  });
}
