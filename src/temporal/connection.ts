import { defined } from '../domain/defined.ts';
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import type { Environment } from '../config/environment.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** How this process reaches Temporal. */
export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  readonly tls?: {
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { crt: Buffer; key: Buffer };
  };
  /** 32 bytes; absent: payloads are readable in the UI. */
  readonly payloadKey?: Buffer;
}

export function temporalSettings(
  environment: Environment,
  address: string,
  payloadKey: Buffer | undefined,
): TemporalSettings {
  const { TEMPORAL_API_KEY, TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY, TEMPORAL_TLS_CA } = environment;
  const pair =
    TEMPORAL_TLS_CERT === undefined || TEMPORAL_TLS_KEY === undefined
      ? {}
      : { clientCertPair: { crt: readFileSync(TEMPORAL_TLS_CERT), key: readFileSync(TEMPORAL_TLS_KEY) } };
  const root =
    TEMPORAL_TLS_CA === undefined ? {} : { serverRootCACertificate: readFileSync(TEMPORAL_TLS_CA) };
  const tls = { ...pair, ...root };
  return {
    address,
    namespace: environment.TEMPORAL_NAMESPACE,
    ...defined({ apiKey: TEMPORAL_API_KEY }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...defined({ payloadKey }),
  };
}

export function dataConverter({ payloadKey }: TemporalSettings): DataConverter {
  return payloadKey === undefined ? {} : { payloadCodecs: [createPayloadCodec(payloadKey)] };
}

/** Connects when first used: a Temporal server that is away does not keep the API from starting. */
export function createTemporalClient(settings: TemporalSettings): Client {
  const { address, namespace, apiKey, tls } = settings;
  const connection = Connection.lazy({
    address,
    ...defined({ apiKey }),
    ...defined({ tls }),
  });
  return new Client({ connection, namespace, dataConverter: dataConverter(settings) });
}

export function connectWorker({ address, apiKey, tls }: TemporalSettings): Promise<NativeConnection> {
  return NativeConnection.connect({
    address,
    ...defined({ apiKey }),
    ...defined({ tls }),
  });
}
