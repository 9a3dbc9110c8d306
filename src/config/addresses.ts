import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

export interface Addresses {
  readonly mongodbUri: string;
  readonly temporalAddress: string;
  readonly secretsKeys: readonly Buffer[];
}

/** What local mode provides and everything else needs. Throws ConfigError. */
export function requireAddresses({ MONGODB_URI, TEMPORAL_ADDRESS, SECRETS_KEY }: Environment): Addresses {
  const missing = [
    ...(MONGODB_URI === undefined ? ['MONGODB_URI: required (npm start provides its own MongoDB)'] : []),
    ...(TEMPORAL_ADDRESS === undefined
      ? ['TEMPORAL_ADDRESS: required (npm start provides its own Temporal)']
      : []),
    ...(SECRETS_KEY === undefined
      ? ['SECRETS_KEY: required: 32 bytes in base64, for example from openssl rand -base64 32']
      : []),
  ];
  if (MONGODB_URI === undefined || TEMPORAL_ADDRESS === undefined || SECRETS_KEY === undefined) {
    throw new ConfigError('The environment', missing);
  }
  return { mongodbUri: MONGODB_URI, temporalAddress: TEMPORAL_ADDRESS, secretsKeys: SECRETS_KEY };
}
