import { readFileSync } from 'node:fs';
import { systemCodeOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

export interface Addresses {
  readonly mongodbUri: string;
  readonly temporalAddress: string;
  readonly temporalTls?: TemporalTls;
  readonly secretsKeys: readonly Buffer[];
}

interface TemporalTls {
  readonly serverRootCACertificate?: Buffer;
  readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
}

/**
 * Local mode provides these URLs. Every other mode has to configure them. Throws ConfigError if one is missing or a TLS
 * file is unreadable.
 */
export function requireAddresses(environment: Environment): Addresses {
  const { MONGODB_URI, TEMPORAL_ADDRESS, SECRETS_KEY } = environment;
  const { tls, unreadable } = readTemporalTls(environment);
  const wrong = [
    ...(MONGODB_URI === undefined ? ['MONGODB_URI: required (npm start provides its own MongoDB)'] : []),
    ...(TEMPORAL_ADDRESS === undefined
      ? ['TEMPORAL_ADDRESS: required (npm start provides its own Temporal)']
      : []),
    ...(SECRETS_KEY === undefined
      ? ['SECRETS_KEY: required: 32 bytes in base64, for example from openssl rand -base64 32']
      : []),
    ...unreadable,
  ];
  if (
    MONGODB_URI === undefined ||
    TEMPORAL_ADDRESS === undefined ||
    SECRETS_KEY === undefined ||
    wrong.length > 0
  ) {
    throw new ConfigError('The environment', wrong);
  }
  return {
    mongodbUri: MONGODB_URI,
    temporalAddress: TEMPORAL_ADDRESS,
    secretsKeys: SECRETS_KEY,
    ...defined({ temporalTls: tls }),
  };
}

function readTemporalTls({ TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY, TEMPORAL_TLS_CA }: Environment) {
  const unreadable: string[] = [];
  const read = (name: string, path: string | undefined): Buffer | undefined => {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      unreadable.push(`${name}: ${path} cannot be read (${systemCodeOf(error)})`);
      return undefined;
    }
  };
  const crt = read('TEMPORAL_TLS_CERT', TEMPORAL_TLS_CERT);
  const key = read('TEMPORAL_TLS_KEY', TEMPORAL_TLS_KEY);
  const tls: TemporalTls = {
    ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
    ...defined({ serverRootCACertificate: read('TEMPORAL_TLS_CA', TEMPORAL_TLS_CA) }),
  };
  return { tls: Object.keys(tls).length === 0 ? undefined : tls, unreadable };
}
