import { startMongoServer, type MongoServer } from '../../src/local/servers/mongodb-server.ts';
import { resolveMongo } from '../../src/local/servers/mongodb-source.ts';
import type { LocalOptions } from '../../src/local/servers/local-options.ts';
import { startTemporalServer, type TemporalServer } from '../../src/local/servers/temporal-server.ts';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { cacheDir } from './cache-dir.ts';
import { markServerUse } from './server-use.ts';

function localOptions(dataDir: string): LocalOptions {
  return { dataDir, report: (line) => process.stderr.write(`${line}\n`), environment: process.env };
}

type Start = {
  dir: string;
  port?: number;
};

type Controls = {
  readonly pid: number;
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Keeps the port and the data. If the server is still running, it is stopped first. */
  restart(): Promise<void>;
};

export type TestTemporal = Controls & {
  readonly address: string;
  readonly uiUrl: string | undefined;
};

export type TestMongo = Controls & { readonly uri: string; readonly kind: MongoServer['kind'] };

export async function startTemporal({
  dir,
  port,
  hasPages = false,
  dynamicConfig = [],
}: Start & {
  readonly hasPages?: boolean;
  readonly dynamicConfig?: readonly string[];
}): Promise<TestTemporal> {
  markServerUse();
  const binary = await resolveTemporal(localOptions(cacheDir));
  const start = (fixed: number | undefined): Promise<TemporalServer> =>
    startTemporalServer({
      ...localOptions(dir),
      binary,
      port: fixed === undefined ? 'any' : { fixed },
      uiPort: hasPages ? 'any' : 'none',
      dynamicConfig: ['frontend.WorkflowTimeSkippingEnabled=true', ...dynamicConfig],
    });
  const server = await start(port);
  const { address, uiUrl } = server;
  return Object.assign(
    controlsOf(server, () => start(portOf(`temporal://${address}`))),
    { address, uiUrl },
  );
}

export async function startMongo({ dir, port }: Start): Promise<TestMongo> {
  markServerUse();
  const mongodBinary = process.env['MONGOD_BINARY'];
  const program = await resolveMongo({
    ...localOptions(cacheDir),
    ...(mongodBinary === undefined ? {} : { mongodBinary }),
  });
  const start = (fixed: number | undefined): Promise<MongoServer> =>
    startMongoServer({
      ...localOptions(dir),
      program,
      programDir: cacheDir,
      port: fixed === undefined ? 'any' : { fixed },
    });
  const server = await start(port);
  const { uri, kind } = server;
  return Object.assign(
    controlsOf(server, () => start(portOf(uri))),
    { uri, kind },
  );
}

function controlsOf(
  first: Omit<Controls, 'restart'>,
  start: () => Promise<Omit<Controls, 'restart'>>,
): Controls {
  let server = first;
  return {
    get pid() {
      return server.pid;
    },
    kill: () => server.kill(),
    stop: () => server.stop(),
    restart: async () => {
      await server.stop();
      server = await start();
    },
  };
}

function portOf(address: string): number {
  return Number(new URL(address).port);
}
