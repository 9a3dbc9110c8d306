import { channelTimesMax } from '../base/activity-times.ts';
import { mediaSeconds } from '../base/times.ts';
import { taskKinds } from '../base/task-kind.ts';
import { z } from 'zod';
import { costUnit } from '../models/vendor-file.ts';
import { isNetwork } from '../base/networks.ts';
import { microsPerUnit, parseMicros } from '../money/money.ts';
import { channelPriceSchema, decimal } from '../money/price-schema.ts';
import { noReview } from '../money/price.ts';
import { expectedSecondsDefault } from '../task/input.ts';
import { rescuableClasses } from '../task/rescue.ts';
import { inputTypes } from '../models/request.ts';
import { fieldMappingSchema } from '../models/field-mapping.ts';
import { modelFactsSchema } from '../models/model-facts.ts';
import {
  areDistinct,
  ledgerSchema,
  notifySchema,
  positiveInt,
  resultsSchema,
  retentionSchema,
  unique,
} from './settings-schema.ts';

/** The schema of gateway.yaml. docs/configuration.md describes every key, and a test compares the two. */

/** An id contains no colon or slash, because the names of queues and slots are built from ids. */
export const identifier = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'must be 1-63 letters, digits, dots and dashes');
const networks = z
  .array(
    z
      .string()
      .refine(
        (text) => isNetwork(text),
        'must be a CIDR or a host name, such as 10.0.0.0/8 or renderer.internal',
      ),
  )
  .default([]);

const costSchema = channelPriceSchema.extend({
  failed: z
    .enum(['billed', 'free'])
    .optional()
    .describe(
      'Whether the upstream bills failed jobs. If unset, a failed job costs nothing if the vendor promises not to bill it. Otherwise, its cost is unknown',
    ),
});

const priceSchema = channelPriceSchema.extend({
  hold: z
    .strictObject({
      multiplier: decimal().prefault('1').describe('The hold, as a multiple of the worst case'),
      review_above: z
        .union([z.string(), z.number()])
        .transform(String)
        .refine(
          (multiple) => multiple === noReview || (parseMicros(multiple) ?? 0n) >= microsPerUnit,
          `must be at least 1, or ${noReview}`,
        )
        .optional()
        .describe(
          `A charge above this multiple of the hold awaits an operator’s decision (default: 3). If ${noReview}, no decision is needed`,
        ),
    })
    .prefault({}),
});

/** With smaller or larger numbers, intervals and sums would become infinite. */
const share = z.number().min(0.001).max(1_000_000);
const deadlineSecondsMax = 259_200;

const channelSchema = z.strictObject({
  id: identifier,
  provider: z.string().describe('The adapter: a built-in provider, or the name of a vendor file'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .describe('The upstream’s base URL'),
  private_networks: networks.describe(
    'The private networks that base_url may resolve to. Only the configuration file can add networks',
  ),
  private_link_networks: networks.describe(
    'The private networks to which all other URLs in the upstream’s responses may resolve',
  ),
  credentials: z
    .array(
      z.strictObject({
        id: identifier,
        api_key: z.string().min(1).describe('The vendor’s key'),
        callback_secret: z
          .string()
          .min(1)
          .optional()
          .describe('The secret with which the vendor signs its callbacks. If unset, they are not verified'),
      }),
    )
    .min(1)
    .refine(unique('id'), 'credential ids must be unique')
    .describe('The keys with which the gateway sends requests to the upstream'),
  enabled: z
    .boolean()
    .default(true)
    .describe('If false, no new tasks are sent to this channel. Tasks in flight continue'),
  priority: z.number().int().default(0).describe('Higher priorities come first'),
  weight: share
    .default(1)
    .describe('How often this channel comes first among channels of equal priority, as a relative weight'),
  limits: z
    .strictObject({
      submits_per_second: share.default(10).describe('Per credential'),
      polls_per_second: share.default(20).describe('Per credential'),
      concurrent_tasks: positiveInt
        .optional()
        .describe('The limits per credential. An unset limit means no limit'),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      submit_ms: positiveInt
        .max(channelTimesMax.submitMs)
        .default(60_000)
        .describe('How long the gateway waits for the response to a submission, in milliseconds'),
      poll_ms: positiveInt
        .max(channelTimesMax.pollMs)
        .default(20_000)
        .describe('How long the gateway waits for the state of a job, in milliseconds'),
      image_ms: positiveInt
        .max(channelTimesMax.imageMs)
        .default(300_000)
        .describe('How long the gateway waits for a synchronous image, in milliseconds'),
    })
    .prefault({}),
  callbacks: z.boolean().default(true).describe('Whether the upstream may send callbacks to PUBLIC_URL'),
  cost: costSchema.optional().describe('The upstream’s cost of models that have no cost of their own'),
  cost_units: z
    .record(costUnit, decimal().describe('The cost of one unit of this name'))
    .default({})
    .describe('The cost of one of the upstream’s own units, such as a credit'),
  models: z
    .record(
      z.string(),
      z.strictObject({
        upstream: z.string().min(1).describe('The upstream’s name for the model'),
        cost: costSchema.optional(),
        mapping: fieldMappingSchema.optional(),
        facts: modelFactsSchema
          .optional()
          .describe('Overrides the facts in the vendor’s table for this model'),
        price: channelPriceSchema.optional().describe('Replaces the model’s price on this channel'),
      }),
    )
    .describe('The models that the channel serves, by their names in the list of models'),
});

const fallbackSchema = z.strictObject({
  channels: z
    .array(identifier)
    .min(1)
    .refine(areDistinct, 'channels must be unique')
    .describe('The channels to which another job is submitted after one fails, in this order'),
  on: z
    .array(z.enum(rescuableClasses))
    .min(1)
    .default(['capacity', 'internal'])
    .describe('The classes of failures after which another job is submitted'),
  allow_moderation: z
    .boolean()
    .default(false)
    .describe('Whether content that one vendor rejected may be sent to another'),
});

const unsupportedAction = z
  .enum(['reject', 'ignore'])
  .describe('What happens to this field if the model does not support it');
const length = z.number().min(mediaSeconds.min).max(mediaSeconds.max);
const inputMax = (media: string) =>
  z.strictObject({
    max: z.number().int().nonnegative().describe(`The maximum number of ${media} in a request`),
  });

export const modelSchema = z.strictObject({
  id: identifier,
  kind: z.enum(taskKinds).describe('The kind of output that the model renders'),
  owned_by: z.string().default('mediary').describe('Shown by GET /v1/models'),
  created: z
    .number()
    .int()
    .nonnegative()
    .default(1_767_225_600)
    .describe('Unix seconds, shown by GET /v1/models'),
  input_types: z
    .array(z.enum(inputTypes))
    .default(['text_to_video'])
    .describe('The kinds of requests that the model accepts, shown by GET /v1/models'),
  resolutions: z
    .array(z.string())
    .default([])
    .describe('The resolutions that the model accepts. The first one is the default'),
  ratios: z.array(z.string()).default([]).describe('The ratios that a request may ask for'),
  sizes: z
    .array(z.string())
    .default([])
    .describe('For images: the size names that callers may use in addition to pixels'),
  qualities: z
    .array(z.string())
    .default([])
    .describe('For images: the qualities that callers may request. If empty, any quality is accepted'),
  durations: z
    .strictObject({
      min: length.describe('The shortest video, in seconds'),
      max: length.describe('The longest video, in seconds'),
      step: length.default(1).describe('The step between durations, in seconds'),
      default: length.optional().describe('The duration of requests without one, in seconds'),
      auto: z.boolean().default(false).describe('Whether a duration of -1 lets the model decide'),
    })
    .optional(),
  inputs: z
    .strictObject({
      images: inputMax('images').default({ max: 0 }),
      videos: inputMax('videos').default({ max: 0 }),
      audios: inputMax('sounds').default({ max: 0 }),
    })
    .prefault({}),
  n: z
    .strictObject({ max: positiveInt.describe('The maximum number of images that a request can ask for') })
    .default({ max: 1 }),
  unsupported: z
    .union([unsupportedAction, z.record(z.string(), unsupportedAction)])
    .default('reject')
    .describe('What happens to fields that the model does not support'),
  expected_seconds: z
    .number()
    .min(0.001)
    .max(deadlineSecondsMax)
    .default(expectedSecondsDefault)
    .describe('A first estimate of the render time, used until actual render times are known'),
  deadline_seconds: z
    .number()
    .int()
    .min(1)
    .max(deadlineSecondsMax)
    .default(172_800)
    .describe('The deadline if the caller sets none'),
  price: priceSchema,
  fallback: fallbackSchema.optional(),
});

/** Channels and models are optional, because they can also be configured in the console. */
export const fileSchema = z
  .strictObject(
    {
      vendors: z
        .array(z.string().min(1))
        .max(32)
        .default([])
        .describe('Paths of vendor files, relative to gateway.yaml'),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, such as USD')
        .describe('The currency of every price, hold and balance. Cannot change after the first credit'),
      channels: z
        .array(channelSchema)
        .refine(unique('id'), 'channel ids must be unique')
        .describe('The upstreams that render the models'),
      models: z
        .array(modelSchema)
        .refine(unique('id'), 'model ids must be unique')
        .describe('The models that the gateway offers'),
      results: resultsSchema.prefault({}),
      retention: retentionSchema.prefault({}),
      ledger: ledgerSchema.prefault({}),
      notify: notifySchema.prefault({}),
      receipts: z
        .strictObject({
          key: positiveInt
            .max(100)
            .default(1)
            .describe('The number of the key that signs receipts. Raising the number rotates the key'),
        })
        .prefault({}),
      allowed_origins: z
        .array(
          z
            .string()
            .regex(
              /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]-]+)$/,
              'must be an origin in lowercase letters without a path, such as https://app.example.com, or "*"',
            ),
        )
        .default([])
        .describe('The origins whose pages may call the API from a browser'),
    },
    {
      error: ({ code, input }) =>
        code === 'invalid_type'
          ? `must have currency, channels and models: it is ${input === null ? 'empty' : 'not a mapping'}`
          : undefined,
    },
  )
  .refine(({ channels, models }) => channels.length > 0 || models.length === 0, {
    path: ['channels'],
    error: 'must have an entry',
  });

export type ServedModel = ChannelConfig['models'][string];
export type ChannelConfig = z.infer<typeof channelSchema>;
export type ModelConfig = z.infer<typeof modelSchema>;
