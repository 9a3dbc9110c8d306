import { z } from 'zod';
import type { RoutePlan } from '../../routing/catalogue.ts';
import type { CapState } from '../../money/caps.ts';
import { defined } from '../../base/defined.ts';
import type { Eta } from '../../models/render-times.ts';
import { capSchema, presentCap } from './cap.ts';
import { presentReckoning, reckoningSchema, sixPlaces } from './reckoning.ts';
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
    expected: z.string().meta({ description: 'What the task is expected to cost.' }),
    price: z.object({
      unit: z.string(),
      rule: z.int().meta({ description: 'Index into the price rules.' }),
      when: z.record(z.string(), z.unknown()),
      price: z.string(),
      quantity: z.number(),
    }),
    explanation: z.object({ hold: reckoningSchema, expected: reckoningSchema }).meta({
      description: 'How both amounts come about, from the function that makes the hold of a create.',
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
    description: 'The hold, the expected charge, and how both come about.',
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
  const { amount, facts, quantity, rule: index } = plan.expected;
  const { unit, rules } = priceAt(plan.basis, facts.channel ?? '');
  const rule = rules[index];
  return {
    object: `${plan.request.kind}.generation.estimate`,
    model: plan.model.id,
    currency: options.currency,
    hold: formatMicros(plan.hold),
    expected: formatMicros(amount),
    price: {
      unit,
      rule: index,
      when: rule?.when ?? {},
      price: sixPlaces(rule?.price ?? '0'),
      // For people; no charge is computed from it.
      quantity: Number(quantity.numerator) / Number(quantity.denominator),
    },
    explanation: presentPlanReckoning(plan),
    ...defined({ eta_seconds: options.eta, refused_by: options.cap && presentCap(options.cap) }),
    warnings: [...options.ignored, ...plan.warnings],
    ...(options.explainRoute
      ? { route: { candidates: [...plan.candidates], dropped: [...plan.dropped] } }
      : {}),
  };
}

/** How the hold and the expected charge of a request come about. */
export function presentPlanReckoning({ reckoning, expectedReckoning, basis, currency }: RoutePlan) {
  const present = (how: Reckoning) =>
    presentReckoning(how, { currency, rules: priceAt(basis, how.facts.channel ?? '').rules });
  return { hold: present(reckoning), expected: present(expectedReckoning()) };
}
