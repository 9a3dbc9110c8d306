import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { withVendorFiles } from './vendor-files.ts';
import { parseGatewayConfig, type GatewayConfig, type ParseConfigContext } from './gateway-file.ts';

export type Violations = { readonly violations: readonly string[] };

interface LoadedFile {
  /** gateway.yaml and its vendor files, packed into one text. */
  readonly text: string;
  readonly config: GatewayConfig;
}

export interface ConfigFile {
  readonly own: LoadedFile;
  readonly load: () => LoadedFile | Violations;
  readonly refusal: (violations: readonly string[]) => ConfigError;
  /** Parses text that another process published. `secrets` maps each NAME in `${sealed:NAME}` to its value. */
  readonly parse: (
    text: string,
    secrets: ReadonlyMap<string, string>,
  ) => { readonly config: GatewayConfig } | Violations;
}

export function openConfigFile(path: string, context: ParseConfigContext): ConfigFile {
  const read = (): LoadedFile => {
    const text = withVendorFiles(textOf(path), path);
    return { text, config: parseGatewayConfig(text, path, context) };
  };
  return {
    own: read(),
    load: () => violationsOr(read),
    refusal: (violations) => new ConfigError(path, violations),
    parse: (text, secrets) =>
      violationsOr(() => ({
        config: parseGatewayConfig(text, 'the published configuration', { ...context, secrets }),
      })),
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(path, [
      'cannot be read: copy gateway.example.yaml, or set GATEWAY_CONFIG to your file',
    ]);
  }
}

function violationsOr<Result>(load: () => Result): Result | Violations {
  try {
    return load();
  } catch (error) {
    if (error instanceof ConfigError) return { violations: error.violations };
    throw error;
  }
}
