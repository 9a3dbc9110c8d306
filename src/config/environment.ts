import { z } from 'zod';
import { isCidr, isNetwork } from '../base/networks.ts';
import { ConfigError, describeIssue } from './config-error.ts';

/**
 * The only module that accesses process.env. docs/configuration.md describes every variable, and a test compares the
 * two.
 */

const list = z
  .string()
  .optional()
  .transform((text) =>
    (text ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
const cidrs = list.refine(
  (parts) => parts.every((part) => isCidr(part)),
  'must be comma-separated CIDRs, such as 10.0.0.0/8',
);
const networks = list.refine(
  (parts) => parts.every((part) => isNetwork(part)),
  'must be comma-separated CIDRs or host names, such as 10.0.0.0/8 or *.svc.cluster.local',
);

const port = z
  .string()
  .transform(Number)
  .refine(
    (number) => Number.isInteger(number) && number >= 0 && number <= 65_535,
    'must be a port: 0 to 65535',
  );

const baseUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine(
    (url) => !/[?#]/.test(url),
    'must not contain a query or a fragment, because paths are appended to it',
  )
  .refine((url) => {
    const { username, password } = new URL(url);
    return username === '' && password === '';
  }, 'must not contain credentials, because it is shown in links')
  .transform((url) => url.replace(/\/+$/, ''));

const secretsKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => Buffer.from(key, 'base64')))
  .refine(
    (keys) => keys.every((key) => key.length === 32),
    'must be 32 bytes in base64 (openssl rand -base64 32), or a comma-separated list of such keys',
  )
  .optional();

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** ADMIN_TOKEN must be hard to guess, because it gives access to every account's money. */
const adminTokenCharactersMin = 32;

const environmentSchema = z
  .object({
    GATEWAY_CONFIG: z.string().default('gateway.yaml'),
    CONFIG_DRAFTS: z.enum(['publish', 'export']).default('publish'),
    CONFIG_AT_START: z.enum(['new', 'always']).default('new'),
    HOST: z.string().default('127.0.0.1'),
    PORT: port.default(8080),
    PUBLIC_URL: baseUrl.optional(),
    MONGODB_URI: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// address')
      .optional(),
    TEMPORAL_ADDRESS: z.string().optional(),
    TEMPORAL_NAMESPACE: z.string().default('default'),
    TEMPORAL_UI_URL: baseUrl.optional(),
    TEMPORAL_API_KEY: z.string().optional(),
    TEMPORAL_TLS_CERT: z.string().optional(),
    TEMPORAL_TLS_KEY: z.string().optional(),
    TEMPORAL_TLS_CA: z.string().optional(),
    ADMIN_TOKEN: z
      .string()
      .min(
        adminTokenCharactersMin,
        `must have at least ${adminTokenCharactersMin} characters (openssl rand -base64 32)`,
      )
      .optional(),
    OPERATOR_TOKEN: z.string().optional(),
    SECRETS_KEY: secretsKeys,
    PAYLOAD_ENCRYPTION: z.enum(['on', 'off']).default('on'),
    DATA_DIR: z.string().default('.mediary'),
    MONGOD_BINARY: z.string().optional(),
    LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    LOG_FORMAT: z.enum(['json', 'pretty']).optional(),
    TASK_QUEUE_PREFIX: z
      .string()
      .regex(/^[a-z0-9-]{0,40}$/, 'must be at most 40 lowercase letters, digits and dashes')
      .default(''),
    OTEL_SDK_DISABLED: z
      .string()
      .optional()
      .transform((text) => text?.toLowerCase() === 'true'),
    OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
    OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
    METRICS_PORT: port.optional(),
    IMAGE_BODY_BYTES_MAX: z.coerce.number().int().min(1024).max(1_073_741_824).default(67_108_864),
    IMAGE_FILES_MAX: z.coerce.number().int().min(1).max(64).default(16),
    IMAGE_PIXELS_MAX: z.coerce.number().int().min(1).default(100_000_000),
    IMAGE_KEPT_BYTES_MAX: z.coerce.number().int().min(0).max(268_435_456).default(33_554_432),
    BODIES_BYTES_MAX: z.coerce.number().int().min(150_994_944).default(167_772_160),
    UPLOADS_BYTES_MAX: z.coerce.number().int().default(1_073_741_824),
    TRUSTED_PROXIES: cidrs,
    ADDRESS_REQUESTS_PER_SECOND: z.coerce.number().int().min(0).default(50),
    UPLOAD_BYTES_PER_SECOND_MIN: z.coerce.number().int().min(0).default(8192),
    ANSWER_BYTES_PER_SECOND_MIN: z.coerce.number().int().min(0).default(4096),
    CONNECTIONS_MAX: z.coerce.number().int().min(1).optional(),
    KEY_REQUESTS_PER_MINUTE: z.coerce.number().int().min(0).default(6000),
    KEY_CONCURRENT_REQUESTS: z.coerce.number().int().min(0).default(256),
    CREATES_AT_ONCE_MAX: z.coerce.number().int().min(1).default(32),
    ACCOUNT_CREATES_AT_ONCE_MAX: z.coerce.number().int().min(1).default(16),
    MEDIA_PROBE_MS: z.coerce.number().int().min(0).max(30_000).default(3000),
    ACCOUNT_STORED_BYTES_MAX: z.coerce.number().int().min(0).default(10_737_418_240),
    SHUTDOWN_DRAIN_SECONDS: z.coerce.number().int().min(0).max(600).default(5),
    SHUTDOWN_GRACE_SECONDS: z.coerce.number().int().min(1).max(3600).default(30),
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: networks,
    MEDIA_ALLOW_PRIVATE_NETWORKS: networks,
  })
  .superRefine((environment, context) => {
    if (environment.UPLOADS_BYTES_MAX >= 2 * environment.IMAGE_BODY_BYTES_MAX) return;
    context.addIssue({
      code: 'custom',
      path: ['UPLOADS_BYTES_MAX'],
      message:
        'must be at least twice IMAGE_BODY_BYTES_MAX, because a single account can never use all of this space',
    });
  });

export type Environment = z.infer<typeof environmentSchema>;
export const environmentNames = Object.keys(environmentSchema.shape);

export function readEnvironment(source: NodeJS.ProcessEnv = process.env): Environment {
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(set);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    'The environment',
    parsed.error.issues.flatMap((issue) => describeIssue(issue)),
  );
}

export function isStartedByNpm(): boolean {
  return process.env['npm_lifecycle_event'] !== undefined;
}

/** Not validated, because it is meant for child processes and for `${NAME}` in gateway.yaml. */
export function rawEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
