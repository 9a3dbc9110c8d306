import { z } from 'zod';
import type { RoutePlan } from '../../routing/catalogue.ts';
import type { CapState } from '../../money/caps.ts';
import { defined } from '../../base/defined.ts';
import type { Eta } from '../../models/render-times.ts';
import { capSchema, presentCap } from './cap.ts';
import { presentReckoning, reckoningSchema } from './reckoning.ts';
import { etaSchema } from './video-task.ts';
import { formatMicros } from '../../money/money.ts';
import { priceAt } from '../../money/price.ts';
import type { Reckoning } from '../../money/reckoning.ts';

export const candidatesSchema = z.array(z.object({ channel: z.string(), credential: z.string() }));
export const droppedSchema = z.array(
  z.object({ channel: z.string(), reason: z.string(), detail: z.string() }),
);

export const estimateSchema = z
  .object({
    object: z.enum(['video.generation.estimate', 'image.generation.estimate']),
    model: z.string(),
    currency: z.string(),
    hold: z.string().meta({ description: 'What a create would hold: the worst case.' }),
    at_least: z.string().meta({
      description: 'The cheapest of what the request leaves open; nothing is counted of what nobody knows.',
    }),
    at_most: z.string().meta({ description: 'The dearest of it.' }),
    explanation: z.object({ hold: reckoningSchema, usual: reckoningSchema }).meta({
      description:
        'How the hold comes about, from the function that makes that of a create; and `usual`: what is charged if the first channel renders the usual of what is left open.',
    }),
    eta_seconds: etaSchema.optional().meta({
      description: 'From the acceptance to the end of the render, as far as render times were learned.',
    }),
    refused_by: capSchema
      .optional()
      .meta({ description: 'The cap that would refuse a create now with 402 `spend_cap_exceeded`.' }),
    warnings: z.array(z.string()),
    route: z
      .object({ candidates: candidatesSchema, dropped: droppedSchema })
      .optional()
      .meta({ description: 'With `x-explain-route: 1`.' }),
  })
  .meta({ id: 'Estimate' });

/** What the routes of both kinds declare. */
export const estimateOperation = {
  description:
    'Accepts the body of a create and creates nothing. With `x-explain-route: 1` the response also lists the channels that would be tried, and why the others would not.',
  method: 'post',
  headers: z.object({
    'x-explain-route': z.string().optional().meta({ description: 'Any value but `1` counts as absent.' }),
  }),
  success: {
    description: 'The hold, the range of the charge, and how both come about.',
    schema: estimateSchema,
  },
  errors: [
    'unsupported_parameter',
    'model_not_found',
    'media_url_not_allowed',
    'callback_url_not_allowed',
    'account_closed',
    'model_not_allowed',
    'channel_not_allowed',
  ],
} as const;

export interface EstimateOptions {
  readonly currency: string;
  /** Fields that another spelling overruled. */
  readonly ignored: readonly string[];
  readonly explainRoute: boolean;
  /** Absent: nothing is known. */
  readonly eta?: Eta;
  /** Absent: none would refuse. */
  readonly cap?: CapState;
}

export function presentEstimate(plan: RoutePlan, options: EstimateOptions): z.output<typeof estimateSchema> {
  return {
    object: `${plan.request.kind}.generation.estimate`,
    model: plan.model.id,
    currency: options.currency,
    hold: formatMicros(plan.hold),
    at_least: formatMicros(plan.range.least),
    at_most: formatMicros(plan.range.most),
    explanation: presentPlanReckoning(plan),
    ...defined({ eta_seconds: options.eta, refused_by: options.cap && presentCap(options.cap) }),
    warnings: [...options.ignored, ...plan.warnings],
    ...(options.explainRoute
      ? { route: { candidates: [...plan.candidates], dropped: [...plan.dropped] } }
      : {}),
  };
}

/** Presents how the hold and the usual charge of a request are computed. */
export function presentPlanReckoning({ reckoning, usualReckoning, basis, currency }: RoutePlan) {
  const present = (how: Reckoning) =>
    presentReckoning(how, { currency, lines: priceAt(basis, how.facts.channel ?? '').lines });
  return { hold: present(reckoning), usual: present(usualReckoning()) };
}
