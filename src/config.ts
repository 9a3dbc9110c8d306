import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { priceUnits } from './domain/price.ts';
import type { PriceCondition } from './domain/price.ts';
import { parseMicros } from './domain/money.ts';
import { inputTypes } from './domain/request.ts';

/** The only reader of process.env and of gateway.yaml. docs/configuration.md describes every name (tested both ways). */

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
    .array(z.strictObject({ id: identifier, api_key: z.string().min(1) }))
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

/** Every violation at once, each with its path. The process exits with status 78 (EX_CONFIG). */
export class ConfigError extends Error {
  readonly violations: readonly string[];

  constructor(source: string, violations: readonly string[]) {
    super(
      [`${source} has ${violations.length} problem(s):`, ...violations.map((line) => `  ${line}`)].join('\n'),
    );
    this.name = 'ConfigError';
    this.violations = violations;
  }
}

export const configExitStatus = 78;

export function loadGatewayConfig(
  path: string,
  environment: NodeJS.ProcessEnv,
  providerNames: readonly string[],
): GatewayConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(path, [
      'cannot be read: copy gateway.example.yaml, or set GATEWAY_CONFIG to your file',
    ]);
  }
  return parseGatewayConfig(text, path, { environment, providerNames });
}

export interface ParseConfigContext {
  readonly environment: NodeJS.ProcessEnv;
  /** The adapters that exist. */
  readonly providerNames: readonly string[];
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
      if (context.providerNames.includes(channel.provider)) return;
      violations.push(
        `channels[${index}].provider: "${channel.provider}" is none of ${context.providerNames.join(', ')}`,
      );
    });
  }
  if (violations.length > 0 || !parsed.success) throw new ConfigError(source, violations);
  return { ...parsed.data, version: createHash('sha256').update(text).digest('hex').slice(0, 12) };
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = formatPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${path === '' ? key : `${path}.${key}`}: is not a known key`);
  }
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return [`${path}: ${missing ? 'required' : issue.message}`];
}

/** `channels[2].models.seedance-2.0.upstream` */
function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
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

const cidrs = z
  .string()
  .optional()
  .transform((text) =>
    (text ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .refine(
    (list) => list.every((part) => /^[0-9a-fA-F:.]+\/\d{1,3}$/.test(part)),
    'must be comma-separated CIDRs, such as 10.0.0.0/8',
  );

const secretsKey = z
  .string()
  .optional()
  .transform((text) => (text === undefined || text === '' ? undefined : Buffer.from(text, 'base64')))
  .refine(
    (key) => key === undefined || key.length === 32,
    'must be 32 bytes in base64 (openssl rand -base64 32)',
  );

const environmentSchema = z
  .object({
    GATEWAY_CONFIG: z.string().default('gateway.yaml'),
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    MONGODB_URI: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// address')
      .optional(),
    TEMPORAL_ADDRESS: z.string().optional(),
    TEMPORAL_NAMESPACE: z.string().default('default'),
    TEMPORAL_API_KEY: z.string().optional(),
    TEMPORAL_TLS_CERT: z.string().optional(),
    TEMPORAL_TLS_KEY: z.string().optional(),
    TEMPORAL_TLS_CA: z.string().optional(),
    ADMIN_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
    SECRETS_KEY: secretsKey,
    PAYLOAD_ENCRYPTION: z.enum(['on', 'off']).default('on'),
    DATA_DIR: z.string().default('.mediary'),
    MONGOD_BINARY: z.string().optional(),
    LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    LOG_FORMAT: z.enum(['json', 'pretty']).optional(),
    TASK_QUEUE_PREFIX: z
      .string()
      .regex(/^[a-z0-9-]{0,40}$/, 'must be at most 40 small letters, digits, dashes')
      .default(''),
    METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    IMAGE_BODY_BYTES_MAX: z.coerce.number().int().min(1024).max(1_073_741_824).default(67_108_864),
    IMAGE_FILES_MAX: z.coerce.number().int().min(1).max(64).default(16),
    IMAGE_PIXELS_MAX: z.coerce.number().int().min(1).default(100_000_000),
    IMAGE_KEPT_BYTES_MAX: z.coerce.number().int().min(0).max(268_435_456).default(33_554_432),
    SHUTDOWN_GRACE_SECONDS: z.coerce.number().int().min(1).max(3600).default(30),
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: cidrs,
    MEDIA_ALLOW_PRIVATE_NETWORKS: cidrs,
    UPSTREAM_ALLOW_PRIVATE_NETWORKS: cidrs,
  })
  .transform((environment) => ({
    ...environment,
    PUBLIC_URL: environment.PUBLIC_URL?.replace(/\/+$/, ''),
  }));

export type Environment = z.infer<typeof environmentSchema>;
export const environmentNames = Object.keys(environmentSchema.in.shape);

/** Reads and validates the environment; empty strings count as unset. */
export function readEnvironment(source: NodeJS.ProcessEnv = process.env): Environment {
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(set);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    'The environment',
    parsed.error.issues.flatMap((issue) => describeIssue(issue)),
  );
}

/** The environment as it is, for child processes and `${NAME}` in gateway.yaml. */
export function rawEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
