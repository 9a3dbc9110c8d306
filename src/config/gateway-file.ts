import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { priceUnits } from '../domain/price.ts';
import type { PriceCondition } from '../domain/price.ts';
import { parseMicros } from '../domain/money.ts';
import { inputTypes } from '../domain/request.ts';
import { ConfigError, describeIssue } from './config-error.ts';

/** gateway.yaml: its schema and its only reader. docs/configuration.md describes every key (tested both ways). */

const decimal = (negative = false) =>
  z
    .union([z.string(), z.number()])
    .transform(String)
    .refine((text) => {
      const micros = parseMicros(text);
      return micros !== undefined && (negative || micros >= 0n);
    }, 'must be a decimal string with at most 6 places, such as "4.70"');

const identifier = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'must be 1-63 letters, digits, dots, dashes');
const positiveInt = z.number().int().positive();

const channelSchema = z.strictObject({
  id: identifier,
  provider: z.string(),
  base_url: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
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
      image_ms: positiveInt.max(600_000).default(300_000),
    })
    .prefault({}),
  /** Whether the upstream may be asked to call us back at PUBLIC_URL. */
  callbacks: z.boolean().default(true),
  models: z.record(z.string(), z.strictObject({ upstream: z.string().min(1) })),
});

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

const priceSchema = z.strictObject({
  unit: z.enum(priceUnits),
  minimum: decimal().default('0'),
  rules: z.array(z.strictObject({ when: condition.optional(), price: decimal() })).min(1),
  hold: z.strictObject({ multiplier: decimal().default('1') }).prefault({}),
});

const unsupportedAction = z.enum(['reject', 'ignore']);
const inputMax = z.strictObject({ max: z.number().int().nonnegative() });

const modelSchema = z.strictObject({
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
  expected_seconds: z.number().positive().default(60),
  deadline_seconds: z.number().int().min(1).max(259_200).default(172_800),
  price: priceSchema,
});

/** Exported for the test that holds docs/configuration.md and the schema equal. */
const gibibyte = 1024 ** 3;

/** Whether and where results are copied to, so that their links outlive those of the upstream. Read at start only. */
const resultsSchema = z
  .strictObject({
    storage: z.enum(['none', 'directory', 's3']).default('none'),
    directory: z.string().min(1).default('results'),
    s3: z
      .strictObject({
        endpoint: z.url({ protocol: /^https?$/ }).optional(),
        region: z.string().min(1).default('us-east-1'),
        bucket: z.string().min(1),
        prefix: z.string().default(''),
        access_key_id: z.string().min(1).optional(),
        secret_access_key: z.string().min(1).optional(),
        path_style: z.boolean().default(false),
      })
      .optional(),
    max_bytes: positiveInt.default(gibibyte),
    retention_days: positiveInt.max(3650).default(30),
    url_ttl_seconds: z.number().int().min(300).max(604_800).default(86_400),
  })
  .refine(({ storage, s3 }) => storage !== 's3' || s3 !== undefined, {
    path: ['s3'],
    message: 'required with storage: s3',
  });

export const fileSchema = z
  .strictObject({
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, such as USD'),
    channels: z.array(channelSchema).min(1).refine(unique('id'), 'channel ids must differ'),
    models: z.array(modelSchema).min(1).refine(unique('id'), 'model ids must differ'),
    results: resultsSchema.prefault({}),
  })
  .superRefine((file, context) => {
    const known = new Set(file.models.map((model) => model.id));
    file.channels.forEach((channel, index) => {
      for (const name of Object.keys(channel.models)) {
        if (known.has(name)) continue;
        context.addIssue({
          code: 'custom',
          path: ['channels', index, 'models', name],
          message: 'is not in the list of models',
        });
      }
    });
  });

function unique<Key extends string>(key: Key) {
  return (items: readonly Readonly<Record<Key, string>>[]) =>
    new Set(items.map((item) => item[key])).size === items.length;
}

export type ChannelConfig = z.infer<typeof channelSchema>;
export type ModelConfig = z.infer<typeof modelSchema>;

export interface GatewayConfig {
  readonly currency: string;
  readonly channels: readonly ChannelConfig[];
  readonly models: readonly ModelConfig[];
  readonly results: z.infer<typeof resultsSchema>;
  /** Fingerprint of the file: 12 hex digits of its SHA-256. */
  readonly version: string;
}

export function loadGatewayConfig(
  path: string,
  environment: NodeJS.ProcessEnv,
  adapters: Omit<ParseConfigContext, 'environment'>,
): GatewayConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(path, [
      'cannot be read: copy gateway.example.yaml, or set GATEWAY_CONFIG to your file',
    ]);
  }
  return parseGatewayConfig(text, path, { ...adapters, environment });
}

export interface ParseConfigContext {
  readonly environment: NodeJS.ProcessEnv;
  /** The adapters that exist. */
  readonly providerNames: readonly string[];
  /** Those whose links callers cannot use: their results must be copied. */
  readonly needingStorage?: readonly string[];
}

export function parseGatewayConfig(text: string, source: string, context: ParseConfigContext): GatewayConfig {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw new ConfigError(
      source,
      document.errors.map((error) => error.message),
    );
  const violations: string[] = [];
  const value = substitute(document.toJS(), '', { environment: context.environment, violations });
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    violations.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue)));
  } else {
    parsed.data.channels.forEach((channel, index) => {
      const issue = providerIssue(channel.provider, parsed.data.results.storage, context);
      if (issue !== undefined) violations.push(`channels[${index}].provider: ${issue}`);
    });
  }
  if (violations.length > 0 || !parsed.success) throw new ConfigError(source, violations);
  return { ...parsed.data, version: createHash('sha256').update(text).digest('hex').slice(0, 12) };
}

function providerIssue(
  provider: string,
  storage: GatewayConfig['results']['storage'],
  { providerNames, needingStorage = [] }: ParseConfigContext,
): string | undefined {
  if (!providerNames.includes(provider)) return `"${provider}" must be one of ${providerNames.join(', ')}`;
  return storage === 'none' && needingStorage.includes(provider)
    ? `"${provider}" needs results.storage: its links expire within minutes or need its key, so results must be copied`
    : undefined;
}

interface Substitution {
  readonly environment: NodeJS.ProcessEnv;
  readonly violations: string[];
}

/** `${NAME}` in a string is replaced from the environment; a name that is not set is a violation. */
function substitute(value: unknown, path: string, context: Substitution): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const found = context.environment[name];
      if (found === undefined || found === '')
        context.violations.push(`${path}: the variable ${name} is not set`);
      return found ?? '';
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => substitute(item, `${path}[${index}]`, context));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        substitute(item, path === '' ? key : `${path}.${key}`, context),
      ]),
    );
  }
  return value;
}
