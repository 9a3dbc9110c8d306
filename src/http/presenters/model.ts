import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import type { ModelConfig } from '../../config/gateway-file.ts';
import { offeredFactsSchema, type OfferedFacts } from '../../models/offered-facts.ts';
import { taskKindSchema } from './enums.ts';
import { sixPlaces } from '../../money/money.ts';
import { measures } from '../../money/measures.ts';
import type { Price } from '../../money/price.ts';

const pricingShape = {
  minimum: z.string(),
  lines: z
    .array(
      z.object({
        measure: z.enum(measures),
        price: z.string(),
        beyond: z.number().meta({ description: 'The free quantity. For megapixels, it applies per image.' }),
        when: z.record(z.string(), z.unknown()),
      }),
    )
    .meta({
      description:
        'The charge is the sum of the lines. For each measure, only the first line whose `when` matches applies.',
    }),
};

export const modelSchema = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    kind: taskKindSchema,
    capabilities: z.record(z.string(), z.unknown()),
    facts: z.array(offeredFactsSchema).meta({
      description:
        'The requests that each channel accepts. A request is rendered if it is within `capabilities` and fits one of these entries. Empty if this is unknown.',
    }),
    pricing: z.object({
      currency: z.string(),
      factor: z.string().meta({
        description:
          'The factor by which the account’s prices are multiplied: `1` unless the operator set another.',
      }),
      ...pricingShape,
      channels: z.array(z.object({ channel: z.string(), ...pricingShape })).meta({
        description: 'Channels that have their own price instead of the model’s.',
      }),
    }),
  })
  .meta({ id: 'Model' });

export interface Offered {
  readonly facts: readonly OfferedFacts[];
  readonly channelPrices: ReadonlyMap<string, Pick<Price, 'minimum' | 'lines'>>;
  readonly currency: string;
  readonly factor?: string | undefined;
}

export function presentModel(
  model: ModelConfig,
  { facts, channelPrices, currency, factor = '1' }: Offered,
): z.output<typeof modelSchema> {
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
      factor,
      ...presentPrice(model.price),
      channels: [...channelPrices].map(([channel, price]) => ({ channel, ...presentPrice(price) })),
    },
  };
}

function presentPrice({ minimum, lines }: Pick<Price, 'minimum' | 'lines'>) {
  return {
    minimum: sixPlaces(minimum),
    lines: lines.map(({ measure, price, beyond = 0, when = {} }) => ({
      measure,
      price: sixPlaces(price),
      beyond,
      when,
    })),
  };
}

function videoCapabilities(model: ModelConfig): Record<string, unknown> {
  const { input_types, resolutions, ratios, durations, inputs, expected_seconds, deadline_seconds } = model;
  return defined({ input_types, resolutions, ratios, durations, inputs, expected_seconds, deadline_seconds });
}

function imageCapabilities({ sizes, qualities, n, inputs }: ModelConfig): Record<string, unknown> {
  return { sizes, qualities, n, inputs: { images: inputs.images } };
}
