import type { Environment } from '../config/environment.ts';
import { messageOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import type { LocalOptions } from './servers/local-options.ts';
import { startMongoServer } from './servers/mongodb-server.ts';
import { resolveMongo } from './servers/mongodb-source.ts';
import { startOnPort } from './servers/ports.ts';
import { supervise } from './servers/supervisor.ts';
import { startTemporalServer } from './servers/temporal-server.ts';
import { resolveTemporal } from './servers/temporal-source.ts';
import { startUiProxy } from './servers/ui-proxy.ts';

/** Everything that was started, in order. It is stopped in reverse order. */
export type Started = { stop(): Promise<void> }[];

export interface Servers {
  readonly mongodbUri: string;
  readonly temporalAddress: string;
  /** Undefined for an external server, whose UI is unknown. */
  readonly temporalUi: string | undefined;
}

export async function startServers(
  environment: Environment,
  options: LocalOptions,
  started: Started,
): Promise<Servers> {
  const [mongodbUri, temporal] = await Promise.all([
    environment.MONGODB_URI ?? startMongo(environment, options, started),
    environment.TEMPORAL_ADDRESS === undefined
      ? startTemporal(options, started)
      : { temporalAddress: environment.TEMPORAL_ADDRESS, temporalUi: undefined },
  ]);
  return { mongodbUri, ...temporal };
}

async function startMongo(
  { MONGOD_BINARY }: Environment,
  options: LocalOptions,
  started: Started,
): Promise<string> {
  const program = await resolveMongo({ ...options, ...defined({ mongodBinary: MONGOD_BINARY }) });
  options.report('MongoDB: starting…');
  const first = await startMongoServer({ ...options, program });
  const port = { fixed: Number(new URL(first.uri).port) };
  started.push(supervise(first, () => startMongoServer({ ...options, program, port }), options.report));
  options.report(
    `MongoDB: ${program.kind === 'mongod' ? program.path : 'the Java stand-in'} at ${first.uri}`,
  );
  return first.uri;
}

const uiPortDefault = 8233;

async function startTemporal(options: LocalOptions, started: Started): Promise<Omit<Servers, 'mongodbUri'>> {
  const binary = await resolveTemporal(options);
  options.report('Temporal: starting…');
  const first = await startTemporalServer({ ...options, binary, uiPort: 'any' });
  const port = { fixed: Number(new URL(`http://${first.address}`).port) };
  const uiPort = first.uiUrl === undefined ? ('none' as const) : { fixed: Number(new URL(first.uiUrl).port) };
  started.push(
    supervise(first, () => startTemporalServer({ ...options, binary, port, uiPort }), options.report),
  );
  options.report(`Temporal: ${binary} at ${first.address}`);
  const temporalUi = first.uiUrl === undefined ? undefined : await startUi(first.uiUrl, options, started);
  return { temporalAddress: first.address, temporalUi };
}

async function startUi(own: string, { report }: LocalOptions, started: Started): Promise<string> {
  try {
    const proxy = await startOnPort({ preferred: uiPortDefault }, 'the Temporal UI', (port) =>
      startUiProxy(own, port),
    );
    started.push(proxy);
    return proxy.url;
  } catch (error) {
    report(
      `Temporal UI: ${messageOf(error)}. Use it at ${own}, where the buttons that bypass the ledger still work.`,
      'lasting',
    );
    return own;
  }
}
