import { createHash } from 'node:crypto';
import { defined } from '../base/defined.ts';
import { checkMeaning, type Adapters } from './check-meaning.ts';
import type { RetentionDays } from '../base/retention.ts';
import { ConfigError, describeIssue, formatPath } from './config-error.ts';
import { fileSchema, type ChannelConfig, type ModelConfig, type ServedModel } from './gateway-schema.ts';
import { readYaml } from './read-yaml.ts';
import { unpackText } from './configuration-text.ts';
import { linksNeedKey } from '../models/vendor-file.ts';
import { readVendorFiles, withFilePrices, type VendorFiles } from './vendor-files.ts';
import type { LedgerConfig, NotifyConfig, ResultsConfig } from './settings-schema.ts';

export type { ChannelConfig, ModelConfig, NotifyConfig, ServedModel };

export interface GatewayConfig {
  readonly vendors: VendorFiles;
  readonly currency: string;
  readonly channels: readonly ChannelConfig[];
  readonly models: readonly ModelConfig[];
  readonly results: ResultsConfig;
  readonly retention: RetentionDays;
  readonly ledger: LedgerConfig;
  readonly notify: NotifyConfig;
  readonly receipts: { readonly key: number };
  readonly allowed_origins: readonly string[];
  readonly hash: string;
}

export interface ParseConfigContext extends Adapters {
  readonly environment: NodeJS.ProcessEnv;
  /** Maps each NAME in `${sealed:NAME}` to its value. Only drafts contain such references. */
  readonly secrets?: ReadonlyMap<string, string>;
}

export function parseGatewayConfig(text: string, source: string, context: ParseConfigContext): GatewayConfig {
  const { gateway, vendors: texts } = unpackText(text);
  const read = readYaml(gateway);
  if ('violations' in read) throw new ConfigError(source, read.violations);
  const missing: MissingVariables = new Map();
  const value = substitute(read.value, '', { ...context, missing });
  const violations = describeMissing(missing);
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    // Missing variables are reported by name, so skip the issues that they cause.
    const incomplete = new Set([...missing.values()].flat());
    const issues = parsed.error.issues.filter(({ path }) => !incomplete.has(formatPath(path)));
    violations.push(...issues.flatMap((issue) => describeIssue(issue)));
  }
  const named = parsed.success ? parsed.data.vendors : [];
  const vendors = readVendorFiles(named, texts, context.providerNames);
  violations.push(...vendors.violations, ...checkMeaning(value, withFiles(context, vendors.files)));
  if (violations.length > 0 || !parsed.success) throw new ConfigError(source, violations);
  const channels = withFilePrices(parsed.data.channels, vendors.files, parsed.data.currency);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { ...parsed.data, channels, vendors: vendors.files, hash };
}

function withFiles(
  { providerNames, needingStorage = [], linkLifeMinSeconds = 0, mapped }: Adapters,
  files: VendorFiles,
): Adapters {
  const all = Object.values(files);
  const isShort = ({ videos, images }: VendorFiles[string]): boolean =>
    [videos, images].some(
      (part) =>
        part !== undefined &&
        'link_life_seconds' in part &&
        (part.link_life_seconds ?? Infinity) < linkLifeMinSeconds,
    );
  return {
    providerNames: [...providerNames, ...all.map(({ name }) => name)],
    needingStorage: [
      ...needingStorage,
      ...all.filter((file) => isShort(file) || linksNeedKey(file)).map(({ name }) => name),
    ],
    ...defined({ mapped }),
  };
}

export const sealedPrefix = 'sealed:';

function sealedMissing(name: string): string {
  return `there is no sealed value ${name.slice(sealedPrefix.length)}; a file must use environment variables instead`;
}

export const references = /\$\{([A-Za-z_][A-Za-z0-9_]*|sealed:[A-Za-z0-9._-]+)\}/g;

type MissingVariables = Map<string, string[]>;

interface Substitution extends Pick<ParseConfigContext, 'environment' | 'secrets'> {
  readonly missing: MissingVariables;
}

function describeMissing(missing: MissingVariables): string[] {
  return [...missing].map(([name, [first = '', ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `${first}${more}: ${name.startsWith(sealedPrefix) ? sealedMissing(name) : `the variable ${name} is not set`}`;
  });
}

function substitute(value: unknown, path: string, context: Substitution): unknown {
  if (typeof value === 'string') {
    return value.replace(references, (_, name: string) => {
      const found = name.startsWith(sealedPrefix)
        ? context.secrets?.get(name.slice(sealedPrefix.length))
        : context.environment[name];
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
