import { z } from 'zod';
import { measures } from './measures.ts';
import { parseMicros } from './money.ts';
import type { PriceCondition } from './price.ts';

export const decimal = (negative = false) =>
  z
    .union([z.string(), z.number()])
    .transform(String)
    .refine((text) => {
      const micros = parseMicros(text);
      return micros !== undefined && (negative || micros >= 0n);
    }, 'must be a decimal string with at most 6 places, such as "4.70"');

const texts = z.array(z.string()).optional();
const flag = z.boolean().optional();

const condition = z.strictObject({
  resolution: texts,
  ratio: texts,
  size: texts,
  quality: texts,
  mode: texts,
  service_tier: texts,
  channel: texts,
  video_input: flag,
  audio_input: flag,
  image_input: flag,
  generate_audio: flag,
  draft: flag,
  duration: z.strictObject({ min: z.number().optional(), max: z.number().optional() }).optional(),
}) satisfies z.ZodType<PriceCondition>;

/** Of a channel's model: it takes the place of the model's price there. */
export const channelPriceSchema = z.strictObject({
  minimum: decimal().default('0'),
  lines: z
    .array(
      z.strictObject({
        measure: z.enum(measures),
        price: decimal(),
        beyond: z.number().nonnegative().optional(),
        when: condition.optional(),
      }),
    )
    .min(1)
    .max(200),
});
