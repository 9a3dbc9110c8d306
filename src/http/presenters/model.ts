import { defined } from '../../domain/defined.ts';
import { z } from 'zod';
import type { ModelConfig } from '../../config/gateway-file.ts';
import { offeredFactsSchema } from '../../domain/offered-facts.ts';
import type { OfferedFacts } from '../../domain/offered-facts.ts';
import { formatMicros, parseMicros } from '../../domain/money.ts';

export const modelSchema = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    kind: z.enum(['video', 'image']),
    capabilities: z.record(z.string(), z.unknown()),
    facts: z.array(offeredFactsSchema).meta({
      description:
        'What its channels take: within `capabilities`, a request that fits one of them is rendered. Empty: it is not known.',
    }),
    pricing: z.object({
      currency: z.string(),
      unit: z.string(),
      minimum: z.string(),
      rules: z.array(z.object({ when: z.record(z.string(), z.unknown()), price: z.string() })),
    }),
  })
  .meta({ id: 'Model' });

export function presentModel(
  model: ModelConfig,
  facts: readonly OfferedFacts[],
  currency: string,
): z.output<typeof modelSchema> {
  const { unit, minimum, rules } = model.price;
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.owned_by,
    kind: model.kind,
    capabilities: model.kind === 'video' ? videoCapabilities(model) : imageCapabilities(model),
    facts: [...facts],
    pricing: {
      currency,
      unit,
      minimum: sixPlaces(minimum),
      rules: rules.map(({ when = {}, price }) => ({ when, price: sixPlaces(price) })),
    },
  };
}

function videoCapabilities(model: ModelConfig): Record<string, unknown> {
  const { input_types, resolutions, ratios, durations, inputs, expected_seconds, deadline_seconds } = model;
  return {
    input_types,
    resolutions,
    ratios,
    ...defined({ durations }),
    inputs,
    expected_seconds,
    deadline_seconds,
  };
}

function imageCapabilities({ sizes, qualities, n, inputs }: ModelConfig): Record<string, unknown> {
  return { sizes, qualities, n, inputs: { images: inputs.images } };
}

function sixPlaces(decimal: string): string {
  return formatMicros(parseMicros(decimal) ?? 0n);
}
