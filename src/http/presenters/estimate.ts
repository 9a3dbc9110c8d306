import { z } from 'zod';
import type { RoutePlan } from '../../routing/catalogue.ts';
import { defined } from '../../domain/defined.ts';
import type { Eta } from '../../domain/render-times.ts';
import { etaSchema } from './video-task.ts';
import { formatMicros, parseMicros } from '../../domain/money.ts';
import type { Quantity } from '../../domain/price.ts';

const routeSchema = z.object({
  candidates: z.array(z.object({ channel: z.string(), credential: z.string() })),
  dropped: z.array(z.object({ channel: z.string(), reason: z.string(), detail: z.string() })),
});

export const estimateSchema = z
  .object({
    object: z.enum(['video.generation.estimate', 'image.generation.estimate']),
    model: z.string(),
    currency: z.string(),
    hold: z.string().meta({ description: 'What a create would hold: the worst case.' }),
    expected: z.string().meta({ description: 'What the task is expected to cost.' }),
    price: z.object({
      unit: z.string(),
      rule: z.int().meta({ description: "Index into the model's price rules." }),
      when: z.record(z.string(), z.unknown()),
      price: z.string(),
      quantity: z.number(),
    }),
    eta_seconds: etaSchema.optional().meta({
      description: 'From the acceptance to the end of the render, as far as render times were learned.',
    }),
    warnings: z.array(z.string()),
    route: routeSchema.optional().meta({ description: 'With `x-explain-route: 1`.' }),
  })
  .meta({ id: 'Estimate' });

export interface EstimateOptions {
  readonly currency: string;
  /** Fields that another spelling overruled. */
  readonly ignored: readonly string[];
  readonly explainRoute: boolean;
  /** Absent: nothing is known. */
  readonly eta?: Eta;
}

export function presentEstimate(plan: RoutePlan, options: EstimateOptions): z.output<typeof estimateSchema> {
  const { unit, rules } = plan.basis.price;
  const rule = rules[plan.expected.rule];
  return {
    object: `${plan.request.kind}.generation.estimate`,
    model: plan.model.id,
    currency: options.currency,
    hold: formatMicros(plan.hold),
    expected: formatMicros(plan.expected.amount),
    price: {
      unit,
      rule: plan.expected.rule,
      when: rule?.when ?? {},
      price: formatMicros(parseMicros(rule?.price ?? '0') ?? 0n),
      quantity: presentQuantity(plan.expected.quantity),
    },
    ...defined({ eta_seconds: options.eta }),
    warnings: [...options.ignored, ...plan.warnings],
    ...(options.explainRoute
      ? { route: { candidates: [...plan.candidates], dropped: [...plan.dropped] } }
      : {}),
  };
}

/** In price units, for people; no charge is computed from it. */
function presentQuantity({ numerator, denominator }: Quantity): number {
  return Number(numerator) / Number(denominator);
}
