import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defined } from '../base/defined.ts';
import { ConfigError } from './config-error.ts';
import { rawEnvironment, readEnvironment } from './environment.ts';
import { readLocalSettings } from './local-settings.ts';
import type { LocalSettings } from './local-settings.ts';

/**
 * The environment of local mode, derived in one place: for the processes that `npm start` runs, and for the verbs of
 * the command line that work on their servers.
 */

/** The configuration of `npm start` where the operator has none: every channel is the simulator. */
const localGatewayFile = fileURLToPath(new URL('../local/gateway.local.yaml', import.meta.url));
const gatewayFileDefault = 'gateway.yaml';
const loopback = '127.0.0.0/8';

export const simulatorApiKey = 'simulated-key';
/** Where the simulator listens unless the port is taken. */
export const simulatorPort = 8090;

/** The file that GATEWAY_CONFIG names, otherwise gateway.yaml in the working directory; undefined: neither exists. */
export function ownGatewayFile(source: NodeJS.ProcessEnv): string | undefined {
  const named = source['GATEWAY_CONFIG'] ?? '';
  if (named !== '') return named;
  return existsSync(gatewayFileDefault) ? gatewayFileDefault : undefined;
}

/** What local mode uses, with everything that `source` sets on top: an empty value counts as unset. */
export function localEnvironment(source: NodeJS.ProcessEnv, settings: LocalSettings): NodeJS.ProcessEnv {
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const own = ownGatewayFile(given);
  return {
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
    // Readable payloads in the Temporal UI; with a SECRETS_KEY of your own they are encrypted.
    PAYLOAD_ENCRYPTION: given['SECRETS_KEY'] === undefined ? 'off' : 'on',
    // On a machine of one person the file is what counts, also one that was in force before (decision 0018).
    CONFIG_AT_START: 'always',
    ADMIN_TOKEN: settings.adminToken,
    // Nothing balances over one API.
    SHUTDOWN_DRAIN_SECONDS: '0',
    // The terminal shows every request, reading ones included.
    LOG_LEVEL: 'debug',
    ...defined({ MONGODB_URI: settings.mongodbUri, TEMPORAL_ADDRESS: settings.temporalAddress }),
    ...given,
    // A key of your own seals from then on; what was sealed with the generated one stays readable.
    SECRETS_KEY: [given['SECRETS_KEY'], settings.secretsKey].filter(Boolean).join(','),
    GATEWAY_CONFIG: own ?? localGatewayFile,
    ...(own === undefined
      ? {
          SIMULATOR_URL: settings.simulatorUrl ?? `http://127.0.0.1:${simulatorPort}`,
          SIMULATOR_API_KEY: simulatorApiKey,
        }
      : {}),
  };
}

/**
 * For the command line: the environment of the local mode in DATA_DIR if one was started there, otherwise the process's
 * own.
 */
export async function readOperatingEnvironment(): Promise<NodeJS.ProcessEnv> {
  const source = rawEnvironment();
  const settings = await readLocalSettings(readEnvironment(source).DATA_DIR);
  return settings === undefined ? source : localEnvironment(source, settings);
}

/** Adds to the violations of an operator's own file how to start without it. */
export function withLocalOrigin(error: unknown, own: string | undefined): unknown {
  if (!(error instanceof ConfigError) || own === undefined) return error;
  return new ConfigError(error.source, error.violations, [
    `npm start used ${own} because ${own === gatewayFileDefault ? 'it is in this directory' : 'GATEWAY_CONFIG names it'}.`,
    own === gatewayFileDefault
      ? 'To return to the simulator, rename or remove it.'
      : 'To return to the simulator, unset GATEWAY_CONFIG (and have no gateway.yaml in this directory).',
  ]);
}
