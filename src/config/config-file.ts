import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { withVendorFiles } from './vendor-files.ts';
import { parseGatewayConfig } from './gateway-file.ts';
import type { GatewayConfig, ParseConfigContext } from './gateway-file.ts';

export type Violations = { readonly violations: readonly string[] };

interface LoadedFile {
  /** The text of gateway.yaml together with the vendor files that it names. */
  readonly text: string;
  readonly config: GatewayConfig;
}

export interface ConfigFile {
  /** As it was when it was opened. */
  readonly own: LoadedFile;
  /** As it is now. */
  readonly load: () => LoadedFile | Violations;
  /** What ends the start of a process whose file has these. */
  readonly refusal: (violations: readonly string[]) => ConfigError;
  /** Parses a text that another process published. `secrets` has the value of each `${sealed:NAME}`. */
  readonly parse: (
    text: string,
    secrets: ReadonlyMap<string, string>,
  ) => { readonly config: GatewayConfig } | Violations;
}

/** The gateway.yaml of this process. Throws ConfigError. */
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
