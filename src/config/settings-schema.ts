import { z } from 'zod';
import { retentionDaysDefault } from '../base/retention.ts';
import { decimal } from '../money/price-schema.ts';

export const positiveInt = z.number().int().positive();
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

/** Copies of results outlive the upstream's links. Read only at startup. */
export const resultsSchema = z
  .strictObject({
    storage: z.enum(['none', 'directory', 's3']).default('none'),
    directory: z.string().min(1).default('results'),
    s3: z
      .strictObject({ ...bucketFields, links: z.enum(['gateway', 'presigned']).default('gateway') })
      .optional(),
    max_bytes: positiveInt.default(gibibyte),
    /** If less space is free, nothing is stored. */
    free_bytes: z
      .number()
      .int()
      .min(0)
      .default(gibibyte / 4),
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
 * How long data outside the ledger is kept. The minimum of seven days allows for a task that takes three days and is
 * followed by three days of callback retries.
 */
export const retentionSchema = z.strictObject({
  requests_days: positiveInt
    .min(7)
    .max(3650)
    .default(retentionDaysDefault.requests_days)
    .describe('The number of days for which a request is kept after its task’s deadline'),
  exchanges_days: positiveInt
    .max(3650)
    .default(retentionDaysDefault.exchanges_days)
    .describe(
      'The number of days for which exchanges with upstreams are kept after the task’s last exchange',
    ),
  tasks_days: positiveInt
    .min(7)
    .max(3650)
    .optional()
    .describe(
      'The number of days for which a task’s record is kept after the task has ended. If unset, records are kept forever',
    ),
});

const headsSchema = z
  .strictObject({
    directory: z.string().min(1).optional(),
    s3: z.strictObject(bucketFields).optional(),
    url: z.url({ protocol: /^https?$/ }).optional(),
    token: z.string().min(1).optional(),
  })
  .refine(
    ({ directory, s3, url }) => [directory, s3, url].filter((place) => place !== undefined).length === 1,
    {
      message: 'must have exactly one of directory, s3 and url',
    },
  );

/** The minimum rate ensures that a reader returns to MongoDB before its cursor expires. */
export const ledgerSchema = z.strictObject({
  verify_hour: z
    .union([z.literal('off'), z.number().int().min(0).max(23)], 'must be 0 to 23, or off')
    .default(3)
    .describe('The hour of the daily verification, in UTC. If off, the ledger is verified only on request'),
  verify_documents_per_second: positiveInt
    .min(100)
    .max(1_000_000)
    .default(1000)
    .describe('The maximum number of entries and tasks that the verification reads per second'),
  heads: headsSchema.optional(),
});

const webhookSecret = z
  .string()
  .refine((secret) => isWebhookSecret(secret), 'must be whsec_ followed by 24 to 64 bytes in base64');

function isWebhookSecret(secret: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(encoded, 'base64');
  return length >= 24 && length <= 64;
}

export const notifySchema = z.strictObject({
  low_balance: decimal()
    .optional()
    .describe(
      'Operators get a notice about an account if its available balance is below this amount. If unset, there are no such notices',
    ),
  targets: z
    .array(
      z
        .strictObject({
          id: z
            .string()
            .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be 1-63 lowercase letters, digits and dashes'),
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
    .refine(unique('id'), 'target ids must be unique'),
});

export function areDistinct(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}

export function unique<Key extends string>(key: Key) {
  return (items: readonly Readonly<Record<Key, string>>[]) => areDistinct(items.map((item) => item[key]));
}

export type ResultsConfig = z.infer<typeof resultsSchema>;
export type LedgerConfig = z.infer<typeof ledgerSchema>;
export type NotifyConfig = z.infer<typeof notifySchema>;
