import { createHash } from 'node:crypto';
import { checkMeaning } from './check-meaning.ts';
import type { RetentionDays } from '../base/retention.ts';
import type { Adapters } from './check-meaning.ts';
import { ConfigError, describeIssue, formatPath } from './config-error.ts';
import { fileSchema } from './gateway-schema.ts';
import { readYaml } from './read-yaml.ts';
import type {
  ChannelConfig,
  ModelConfig,
  LedgerConfig,
  NotifyConfig,
  ResultsConfig,
  ServedModel,
} from './gateway-schema.ts';

/** gateway.yaml: its only reader. */

export type { ChannelConfig, ModelConfig, NotifyConfig, ServedModel };

export interface GatewayConfig {
  readonly currency: string;
  readonly channels: readonly ChannelConfig[];
  readonly models: readonly ModelConfig[];
  readonly results: ResultsConfig;
  readonly retention: RetentionDays;
  readonly ledger: LedgerConfig;
  readonly notify: NotifyConfig;
  readonly receipts: { readonly key: number };
  readonly allowed_origins: readonly string[];
  /** Fingerprint of the text: 12 hex digits of its SHA-256. */
  readonly hash: string;
}

export interface ParseConfigContext extends Adapters {
  readonly environment: NodeJS.ProcessEnv;
}

export function parseGatewayConfig(text: string, source: string, context: ParseConfigContext): GatewayConfig {
  const read = readYaml(text);
  if ('violations' in read) throw new ConfigError(source, read.violations);
  const missing: MissingVariables = new Map();
  const value = substitute(read.value, '', { environment: context.environment, missing });
  const violations = describeMissing(missing);
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    // What is wrong with a value that lacks its variable is said once, by the variable's name.
    const incomplete = new Set([...missing.values()].flat());
    const issues = parsed.error.issues.filter(({ path }) => !incomplete.has(formatPath(path)));
    violations.push(...issues.flatMap((issue) => describeIssue(issue)));
  }
  violations.push(...checkMeaning(value, context));
  if (violations.length > 0 || !parsed.success) throw new ConfigError(source, violations);
  return { ...parsed.data, hash: createHash('sha256').update(text).digest('hex').slice(0, 12) };
}

/** Where each variable that is not set is used. */
type MissingVariables = Map<string, string[]>;

interface Substitution {
  readonly environment: NodeJS.ProcessEnv;
  readonly missing: MissingVariables;
}

/** One violation for each variable, however often the file uses it. */
function describeMissing(missing: MissingVariables): string[] {
  return [...missing].map(([name, [first = '', ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `${first}${more}: the variable ${name} is not set`;
  });
}

/** `${NAME}` in a string is replaced from the environment; a name that is not set is a violation. */
function substitute(value: unknown, path: string, context: Substitution): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const found = context.environment[name];
      if (found === undefined || found === '')
        context.missing.set(name, [...(context.missing.get(name) ?? []), path]);
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
