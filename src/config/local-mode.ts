import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defined } from '../base/defined.ts';
import { ConfigError } from './config-error.ts';
import { rawEnvironment, readEnvironment } from './environment.ts';
import { readLocalSettings, type LocalSettings } from './local-settings.ts';

const localGatewayFile = fileURLToPath(new URL('../local/gateway.local.yaml', import.meta.url));
const gatewayFileDefault = 'gateway.yaml';
const loopback = '127.0.0.0/8';

export const simulatorApiKey = 'simulated-key';
export const simulatorPort = 8090;

export function ownGatewayFile(source: NodeJS.ProcessEnv): string | undefined {
  const named = source['GATEWAY_CONFIG'] ?? '';
  if (named !== '') return named;
  return existsSync(gatewayFileDefault) ? gatewayFileDefault : undefined;
}

export function localEnvironment(source: NodeJS.ProcessEnv, settings: LocalSettings): NodeJS.ProcessEnv {
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const own = ownGatewayFile(given);
  return {
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
    // Payloads stay readable in the Temporal UI unless the operator has set a SECRETS_KEY.
    PAYLOAD_ENCRYPTION: given['SECRETS_KEY'] === undefined ? 'off' : 'on',
    // On a single-user machine, the file always wins, even if a newer configuration has replaced it (decision 0018).
    CONFIG_AT_START: 'always',
    ADMIN_TOKEN: settings.adminToken,
    // There is only one API process, and no load balancer to wait for.
    SHUTDOWN_DRAIN_SECONDS: '0',
    // At this level, the terminal shows every request, including reads.
    LOG_LEVEL: 'debug',
    ...defined({ MONGODB_URI: settings.mongodbUri, TEMPORAL_ADDRESS: settings.temporalAddress }),
    ...given,
    // A SECRETS_KEY from the environment seals new values. The generated key still opens older ones.
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

/** If local mode was started in this DATA_DIR, commands use its environment. */
export async function readOperatingEnvironment(): Promise<NodeJS.ProcessEnv> {
  const source = rawEnvironment();
  const settings = await readLocalSettings(readEnvironment(source).DATA_DIR);
  return settings === undefined ? source : localEnvironment(source, settings);
}

/** If the operator's own file has violations, adds advice on starting without that file. */
export function withLocalOrigin(error: unknown, own: string | undefined): unknown {
  if (!(error instanceof ConfigError) || own === undefined) return error;
  return new ConfigError(error.source, error.violations, [
    `npm start used ${own} because ${own === gatewayFileDefault ? 'it is in this directory' : 'GATEWAY_CONFIG names it'}.`,
    own === gatewayFileDefault
      ? 'To return to the simulator, rename or remove that file.'
      : 'To return to the simulator, unset GATEWAY_CONFIG, and make sure that this directory contains no gateway.yaml.',
  ]);
}
