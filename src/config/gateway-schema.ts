import { z } from 'zod';
import { isNetwork } from '../base/networks.ts';
import { retentionDaysDefault } from '../base/retention.ts';
import { microsPerUnit, parseMicros } from '../money/money.ts';
import { channelPriceSchema, decimal } from '../money/price-schema.ts';
import { noReview } from '../money/price.ts';
import { expectedSecondsDefault } from '../task/input.ts';
import { rescuableClasses } from '../task/rescue.ts';
import { inputTypes } from '../models/request.ts';
import { fieldMappingSchema } from '../models/field-mapping.ts';
import { modelFactsSchema } from '../models/model-facts.ts';

/** The shape of gateway.yaml. docs/configuration.md describes every key (tested both ways). */

/** Of channels, credentials, models. It holds no colon and no slash: names of queues and slots are made of it. */
export const identifier = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'must be 1-63 letters, digits, dots, dashes');
const positiveInt = z.number().int().positive();
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

/** What the upstream bills. */
const costSchema = channelPriceSchema.extend({ failed: z.enum(['billed', 'free']).optional() });

/** As adapters name the units of upstreams' own numbers: `USD`, `credits`, `video units`. */
const costUnit = z
  .string()
  .regex(/^[A-Za-z][A-Za-z _-]{0,31}$/, 'must be the name of a unit, such as credits');

const priceSchema = channelPriceSchema.extend({
  hold: z
    .strictObject({
      multiplier: decimal().default('1'),
      review_above: z
        .union([z.string(), z.number()])
        .transform(String)
        .refine(
          (multiple) => multiple === noReview || (parseMicros(multiple) ?? 0n) >= microsPerUnit,
          `must be at least 1, or ${noReview}`,
        )
        .optional(),
    })
    .prefault({}),
});

const channelSchema = z.strictObject({
  id: identifier,
  provider: z.string(),
  base_url: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
  /** Private networks that base_url may lead to. */
  private_networks: networks,
  /** Private networks that all other addresses in the upstream's answers may lead to. */
  private_link_networks: networks,
  credentials: z
    .array(
      z.strictObject({
        id: identifier,
        api_key: z.string().min(1),
        callback_secret: z.string().min(1).optional(),
      }),
    )
    .min(1)
    .refine(unique('id'), 'credential ids must differ'),
  enabled: z.boolean().default(true),
  priority: z.number().int().default(0),
  weight: z.number().positive().default(1),
  limits: z
    .strictObject({
      submits_per_second: z.number().positive().default(10),
      polls_per_second: z.number().positive().default(20),
      concurrent_tasks: positiveInt.optional(),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      submit_ms: positiveInt.max(300_000).default(60_000),
      poll_ms: positiveInt.max(60_000).default(20_000),
      image_ms: positiveInt.max(840_000).default(300_000),
    })
    .prefault({}),
  /** Whether the upstream may be asked to call us back at PUBLIC_URL. */
  callbacks: z.boolean().default(true),
  /** What the upstream bills for models that have no `cost` of their own. */
  cost: costSchema.optional(),
  /** What one unit of the upstream's own number is worth. */
  cost_units: z.record(costUnit, decimal()).default({}),
  models: z.record(
    z.string(),
    z.strictObject({
      upstream: z.string().min(1),
      cost: costSchema.optional(),
      mapping: fieldMappingSchema.optional(),
      /** Laid over what the vendor's table says of the model. */
      facts: modelFactsSchema.optional(),
      price: channelPriceSchema.optional(),
    }),
  ),
});

/** Where a task goes whose job failed at its upstream, and for which failures. */
const fallbackSchema = z.strictObject({
  channels: z.array(identifier).min(1).refine(areDistinct, 'channels must differ'),
  on: z.array(z.enum(rescuableClasses)).min(1).default(['capacity', 'internal']),
  allow_moderation: z.boolean().default(false),
});

const unsupportedAction = z.enum(['reject', 'ignore']);
const inputMax = z.strictObject({ max: z.number().int().nonnegative() });

export const modelSchema = z.strictObject({
  id: identifier,
  kind: z.enum(['video', 'image']),
  owned_by: z.string().default('mediary'),
  created: z.number().int().nonnegative().default(1_767_225_600),
  input_types: z.array(z.enum(inputTypes)).default(['text_to_video']),
  resolutions: z.array(z.string()).default([]),
  ratios: z.array(z.string()).default([]),
  sizes: z.array(z.string()).default([]),
  qualities: z.array(z.string()).default([]),
  durations: z
    .strictObject({
      min: z.number().positive(),
      max: z.number().positive(),
      step: z.number().positive().default(1),
      default: z.number().positive().optional(),
      auto: z.boolean().default(false),
    })
    .optional(),
  inputs: z
    .strictObject({
      images: inputMax.default({ max: 0 }),
      videos: inputMax.default({ max: 0 }),
      audios: inputMax.default({ max: 0 }),
    })
    .prefault({}),
  n: z.strictObject({ max: positiveInt }).default({ max: 1 }),
  unsupported: z.union([unsupportedAction, z.record(z.string(), unsupportedAction)]).default('reject'),
  expected_seconds: z.number().positive().default(expectedSecondsDefault),
  deadline_seconds: z.number().int().min(1).max(259_200).default(172_800),
  price: priceSchema,
  fallback: fallbackSchema.optional(),
});

const gibibyte = 1024 ** 3;

const bucketFields = {
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  region: z.string().min(1).default('us-east-1'),
  bucket: z.string().min(1),
  prefix: z.string().default(''),
  access_key_id: z.string().min(1).optional(),
  secret_access_key: z.string().min(1).optional(),
  path_style: z.boolean().default(false),
};

/** Whether and where results are copied to, so that their links outlive those of the upstream. Read at start only. */
const resultsSchema = z
  .strictObject({
    storage: z.enum(['none', 'directory', 's3']).default('none'),
    directory: z.string().min(1).default('results'),
    s3: z
      .strictObject({ ...bucketFields, links: z.enum(['gateway', 'presigned']).default('gateway') })
      .optional(),
    max_bytes: positiveInt.default(gibibyte),
    retention_days: positiveInt.max(3650).default(30),
    url_ttl_seconds: z.number().int().min(300).max(604_800).default(86_400),
    files: z
      .strictObject({
        max_bytes: positiveInt.max(gibibyte).default(gibibyte / 8),
        account_bytes: positiveInt.default(10 * gibibyte),
        retention_days: positiveInt.max(3650).default(30),
      })
      .prefault({}),
  })
  .refine(({ storage, s3 }) => storage !== 's3' || s3 !== undefined, {
    path: ['s3'],
    message: 'required with storage: s3',
  });

/**
 * For how long things are kept that are not the ledger. The least: callbacks are repeated for three days after a task's end, which may be
 * three days after its creation.
 */
const retentionSchema = z.strictObject({
  requests_days: positiveInt.min(7).max(3650).default(retentionDaysDefault.requests_days),
  exchanges_days: positiveInt.max(3650).default(retentionDaysDefault.exchanges_days),
  tasks_days: positiveInt.min(7).max(3650).optional(),
});

/** The place outside MongoDB to which the signed heads of the ledger are exported each day. */
const headsSchema = z
  .strictObject({
    directory: z.string().min(1).optional(),
    s3: z.strictObject(bucketFields).optional(),
    url: z.url({ protocol: /^https?$/ }).optional(),
    /** Sent to `url` as a bearer token. */
    token: z.string().min(1).optional(),
  })
  .refine(
    ({ directory, s3, url }) => [directory, s3, url].filter((place) => place !== undefined).length === 1,
    {
      message: 'must have exactly one of directory, s3 and url',
    },
  );

/** The daily verification of the ledger. At the least a reader is not away from MongoDB for longer than its cursor lives. */
const ledgerSchema = z.strictObject({
  verify_hour: z
    .union([z.literal('off'), z.number().int().min(0).max(23)], 'must be 0 to 23, or off')
    .default(3),
  verify_documents_per_second: positiveInt.min(100).max(1_000_000).default(1000),
  heads: headsSchema.optional(),
});

const webhookSecret = z
  .string()
  .refine((secret) => isWebhookSecret(secret), 'must be whsec_ and 24 to 64 bytes in base64');

function isWebhookSecret(secret: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(encoded, 'base64');
  return length >= 24 && length <= 64;
}

/** Where operators are notified. */
const notifySchema = z.strictObject({
  low_balance: decimal().optional(),
  targets: z
    .array(
      z
        .strictObject({
          id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be 1-63 small letters, digits, dashes'),
          url: z.url({ protocol: /^https?$/ }).optional(),
          secret: webhookSecret.optional(),
          format: z.enum(['json', 'text']).default('json'),
          command: z.array(z.string().min(1)).min(1).optional(),
        })
        .refine(
          ({ url, command }) => (url === undefined) !== (command === undefined),
          'needs either url or command',
        ),
    )
    .default([])
    .refine(unique('id'), 'target ids must differ'),
});

export const fileSchema = z.strictObject(
  {
    /** Paths of vendor files, relative to gateway.yaml. */
    vendors: z.array(z.string().min(1)).max(32).default([]),
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, such as USD'),
    channels: z.array(channelSchema).min(1).refine(unique('id'), 'channel ids must differ'),
    models: z.array(modelSchema).min(1).refine(unique('id'), 'model ids must differ'),
    results: resultsSchema.prefault({}),
    retention: retentionSchema.prefault({}),
    ledger: ledgerSchema.prefault({}),
    notify: notifySchema.prefault({}),
    /** Which key signs receipts: a higher number rotates it. */
    receipts: z.strictObject({ key: positiveInt.max(100).default(1) }).prefault({}),
    /** Whose pages may call the API from a browser. */
    allowed_origins: z
      .array(
        z
          .string()
          .regex(
            /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]-]+)$/,
            'must be an origin in small letters without a path, such as https://app.example.com, or "*"',
          ),
      )
      .default([]),
  },
  {
    error: ({ code, input }) =>
      code === 'invalid_type'
        ? `must have currency, channels and models: it is ${input === null ? 'empty' : 'not a mapping'}`
        : undefined,
  },
);

function areDistinct(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}

function unique<Key extends string>(key: Key) {
  return (items: readonly Readonly<Record<Key, string>>[]) => areDistinct(items.map((item) => item[key]));
}

/** A model as one channel serves it. */
export type ServedModel = ChannelConfig['models'][string];
export type ChannelConfig = z.infer<typeof channelSchema>;
export type ModelConfig = z.infer<typeof modelSchema>;
export type ResultsConfig = z.infer<typeof resultsSchema>;
export type LedgerConfig = z.infer<typeof ledgerSchema>;
export type NotifyConfig = z.infer<typeof notifySchema>;
