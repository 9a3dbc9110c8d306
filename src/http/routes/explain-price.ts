import { z } from 'zod';
import type { RoutePlan } from '../../routing/catalogue.ts';
import { formatMicros } from '../../money/money.ts';
import { explainErrors, explainedBodySchema, parseExplained } from '../explained-request.ts';
import type { ExplainedDeps } from '../explained-request.ts';
import { droppedSchema, presentPlanReckoning } from '../presenters/estimate.ts';
import { reckoningSchema } from '../presenters/reckoning.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const explanationSchema = z
  .object({
    object: z.literal('price.explanation'),
    model: z.string(),
    currency: z.string(),
    hold: reckoningSchema.meta({
      description: 'The amount that a create request would hold: the highest possible charge on any channel.',
    }),
    usual: reckoningSchema.meta({
      description: 'The charge if the first channel renders the request with the model’s defaults.',
    }),
    channels: z
      .array(z.object({ channel: z.string(), dearest: z.string(), rules_of: z.enum(['model', 'channel']) }))
      .meta({
        description: 'The channels that may render the request, each with its highest possible charge.',
      }),
    dropped: droppedSchema,
    warnings: z.array(z.string()),
  })
  .meta({ id: 'PriceExplanation' });

export function explainPrice(deps: ExplainedDeps): Route {
  return adminRoute({
    operationId: 'explainPrice',
    access: 'amounts',
    summary: 'Explain what a request would hold and cost',
    description:
      'Shows which price line applies to which quantity, where each fact comes from, and each step of the computation. Computes the hold with the same function as task creation, but creates nothing.',
    method: 'post',
    paths: ['/admin/v1/prices/explain'],
    input: z.object({ body: explainedBodySchema }),
    success: { description: 'The hold and the usual charge, line by line.', schema: explanationSchema },
    errors: [...explainErrors, 'channel_not_allowed'],
    async handle({ body }) {
      const { request, buyer } = await parseExplained(body, deps);
      return jsonReply(present(await deps.catalogue.planMeasured(request, buyer)));
    },
  });
}

function present(plan: RoutePlan): z.output<typeof explanationSchema> {
  const { model, currency, quotes, dropped, warnings } = plan;
  return {
    object: 'price.explanation',
    model: model.id,
    currency,
    ...presentPlanReckoning(plan),
    channels: [...quotes].map(([channel, { worst, price }]) => ({
      channel,
      dearest: formatMicros(worst.amount),
      rules_of: price.isOwn ? 'channel' : 'model',
    })),
    dropped: [...dropped],
    warnings: [...warnings],
  };
}
