import { z } from 'zod';
import { mediaSeconds } from '../base/times.ts';
import { measures } from './measures.ts';
import { parseMicros } from './money.ts';
import type { PriceCondition } from './price.ts';
import { measureMax } from './settle-facts.ts';

export const decimal = (negative = false) =>
  z
    .union([z.string(), z.number()])
    .transform(String)
    .refine((text) => {
      const micros = parseMicros(text);
      return micros !== undefined && (negative || micros >= 0n);
    }, 'must be a decimal string with at most 6 places, such as "4.70"');

const oneOf = (what: string) => z.array(z.string()).optional().describe(`Applies only to these ${what}`);
const flag = (what: string) =>
  z
    .boolean()
    .optional()
    .describe(`If true, the line applies only if ${what}. If false, it applies only in all other cases`);

const length = z.number().nonnegative().max(mediaSeconds.max);

const condition = z.strictObject({
  resolution: oneOf('resolutions'),
  ratio: oneOf('ratios'),
  size: oneOf('sizes'),
  quality: oneOf('qualities'),
  mode: oneOf('modes'),
  service_tier: oneOf('service tiers'),
  channel: oneOf('channels'),
  video_input: flag('the request has a video'),
  audio_input: flag('the request has an audio file'),
  image_input: flag('the request has an image'),
  generate_audio: flag('the video has sound'),
  draft: flag('the request asks for a draft'),
  duration: z
    .strictObject({
      min: length.optional().describe('Applies only to videos of at least this many seconds'),
      max: length.optional().describe('Applies only to videos of at most this many seconds'),
    })
    .optional(),
}) satisfies z.ZodType<PriceCondition>;

export const channelPriceSchema = z.strictObject({
  minimum: decimal().prefault('0').describe('The minimum charge of a successful task'),
  lines: z
    .array(
      z.strictObject({
        measure: z.enum(measures).describe('The measure that is counted'),
        price: decimal().describe('The price per unit of the measure'),
        beyond: z
          .number()
          .nonnegative()
          .max(measureMax)
          .optional()
          .describe('The number of units of the measure that cost nothing'),
        when: condition.optional(),
      }),
    )
    .min(1)
    .max(200)
    .describe('The price is the sum of these lines'),
});
