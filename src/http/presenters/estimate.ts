import { z } from 'zod';
import type { RoutePlan } from '../../routing/catalogue.ts';
import type { CapState } from '../../money/caps.ts';
import { defined } from '../../base/defined.ts';
import type { Eta } from '../../models/render-times.ts';
import { capSchema, presentCap } from './cap.ts';
import { presentReckoning, reckoningSchema } from './reckoning.ts';
import { etaSchema } from './video-task.ts';
import { shapeChargesMin } from '../../money/charge-shape.ts';
import { formatMicros, type Micros } from '../../money/money.ts';
import { priceAt } from '../../money/price.ts';
import type { Reckoning } from '../../money/reckoning.ts';

export const candidatesSchema = z.array(z.object({ channel: z.string(), credential: z.string() }));
export const droppedSchema = z.array(
  z.object({
    channel: z.string(),
    credential: z.string().optional().meta({
      description: 'Absent if all of the channel’s credentials were dropped.',
    }),
    reason: z.string(),
    detail: z.string(),
  }),
);

export const estimateSchema = z
  .object({
    object: z.enum(['video.generation.estimate', 'image.generation.estimate']),
    model: z.string(),
    currency: z.string(),
    hold: z.string().meta({ description: 'The amount that a create request would hold: the worst case.' }),
    at_least: z.string().meta({
      description: 'The lowest possible charge. Counts that are not known yet add nothing to it.',
    }),
    at_most: z.string().meta({ description: 'The highest possible charge.' }),
    expected: z
      .string()
      .optional()
      .meta({
        description: `The recent cost of similar requests: the median of the latest charges for this model at the same resolution, duration, size, quality and counts, recalculated at today's prices. Absent if fewer than ${shapeChargesMin} charges are known.`,
      }),
    explanation: z.object({ hold: reckoningSchema, usual: reckoningSchema }).meta({
      description:
        'How the hold is computed, using the same function as task creation. `usual` is the charge if the first channel renders the request with default settings.',
    }),
    eta_seconds: etaSchema.optional().meta({
      description: 'Seconds from acceptance to the end of the render. Present if render times are known.',
    }),
    refused_by: capSchema.optional().meta({
      description:
        'The cap that a create request would exceed now. It would fail with 402 `spend_cap_exceeded`.',
    }),
    warnings: z.array(z.string()),
    route: z
      .object({ candidates: candidatesSchema, dropped: droppedSchema })
      .optional()
      .meta({ description: 'Present with `x-explain-route: 1`.' }),
  })
  .meta({ id: 'Estimate' });

export const estimateOperation = {
  description:
    'Accepts the same body as a create request, but creates nothing. If you send `x-explain-route: 1`, the response also lists the channels that would be tried and explains why the others would not.',
  method: 'post',
  headers: z.object({
    'x-explain-route': z.string().optional().meta({ description: 'Any value except `1` is ignored.' }),
  }),
  success: {
    description: 'The hold, the possible range of the charge, and how both are computed.',
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
  readonly ignored: readonly string[];
  readonly explainRoute: boolean;
  readonly eta?: Eta;
  readonly cap?: CapState;
  readonly expected?: Micros;
}

export function presentEstimate(plan: RoutePlan, options: EstimateOptions): z.output<typeof estimateSchema> {
  return {
    object: `${plan.request.kind}.generation.estimate`,
    model: plan.model.id,
    currency: options.currency,
    hold: formatMicros(plan.hold),
    at_least: formatMicros(plan.range.least),
    at_most: formatMicros(plan.range.most),
    ...defined({
      expected:
        options.expected === undefined ? undefined : formatMicros(within(plan.range, options.expected)),
    }),
    explanation: presentPlanReckoning(plan),
    ...defined({ eta_seconds: options.eta, refused_by: options.cap && presentCap(options.cap) }),
    warnings: [...options.ignored, ...plan.warnings],
    ...(options.explainRoute
      ? { route: { candidates: [...plan.candidates], dropped: [...plan.dropped] } }
      : {}),
  };
}

function within({ least, most }: RoutePlan['range'], amount: Micros): Micros {
  if (amount < least) return least;
  return amount > most ? most : amount;
}

export function presentPlanReckoning({ reckoning, usualReckoning, basis, currency }: RoutePlan) {
  const present = (how: Reckoning) =>
    presentReckoning(how, { currency, lines: priceAt(basis, how.facts.channel ?? '').lines });
  return { hold: present(reckoning), usual: present(usualReckoning()) };
}
