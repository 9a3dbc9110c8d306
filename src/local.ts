import { defined } from './domain/defined.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, configExitStatus } from './config/config-error.ts';
import { rawEnvironment, readEnvironment } from './config/environment.ts';
import type { Environment } from './config/environment.ts';
import { banner } from './local/banner.ts';
import { lockDataDir } from './local/data-dir.ts';
import { runDemo } from './local/demo.ts';
import { LocalServerError } from './local/servers/local-options.ts';
import type { LocalOptions, Report } from './local/servers/local-options.ts';
import { makeAccount } from './local/first-account.ts';
import { startMongoServer } from './local/servers/mongodb-server.ts';
import { resolveMongo } from './local/servers/mongodb-source.ts';
import { choosePort } from './local/servers/ports.ts';
import { startChild, waitUntilServing } from './local/servers/process.ts';
import type { ChildServer } from './local/servers/process.ts';
import { loadOrMakeLocalSettings, saveLocalSettings } from './config/local-settings.ts';
import type { LocalSettings } from './config/local-settings.ts';
import { supervise } from './local/servers/supervisor.ts';
import type { Supervised } from './local/servers/supervisor.ts';
import { startTemporalServer } from './local/servers/temporal-server.ts';
import { resolveTemporal } from './local/servers/temporal-source.ts';
import { startSimulator } from './local/simulator/simulator.ts';

/** `npm start` and `npm run demo`: servers, simulator, worker and API in one process tree, ended together. */

const readyDeadlineMs = 60_000;
const simulatorApiKey = 'simulated-key';
const simulatorPort = 8090;
const projectDir = fileURLToPath(new URL('..', import.meta.url));

/** Things to end, in the order in which they were started. */
type Started = { stop(): Promise<void> }[];

interface Servers {
  readonly mongodbUri: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | undefined;
}

async function main(): Promise<void> {
  const demo = process.argv[2] === 'demo';
  const began = performance.now();
  const started: Started = [];
  const report: Report = (line) => console.error(line);
  const stopAll = async (): Promise<void> => {
    for (const one of started.splice(0).reverse()) await one.stop();
  };
  let ending = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // One Ctrl-C arrives several times: from the terminal, and relayed by npm and tsx.
    if (ending) return;
    ending = true;
    report(`\n${signal}: ending what was started here…`);
    process.exitCode = 0;
    void stopAll().then(() => process.exit());
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    const environment = readEnvironment();
    const dataDir = resolve(environment.DATA_DIR);
    const lock = await lockDataDir(dataDir);
    started.push({ stop: () => lock.release() });
    const options = { dataDir, report, environment: rawEnvironment() };
    const facts = await startEverything(environment, options, started);
    const readySeconds = (performance.now() - began) / 1000;
    console.log(banner({ ...facts, dataDir, readySeconds }));
    if (!demo) return;
    const succeeded = await runDemo({
      apiUrl: facts.apiUrl,
      settings: facts.settings,
      print: (line) => console.log(line),
    });
    await stopAll();
    process.exit(succeeded ? 0 : 1);
  } catch (error) {
    await stopAll();
    const known = error instanceof ConfigError || error instanceof LocalServerError;
    report(known ? error.message : String(error instanceof Error ? (error.stack ?? error.message) : error));
    process.exit(error instanceof ConfigError ? configExitStatus : 1);
  }
}

async function startEverything(environment: Environment, options: LocalOptions, started: Started) {
  const settings = await loadOrMakeLocalSettings(options.dataDir);
  const [servers, simulator] = await Promise.all([
    startServers(environment, options, started),
    startLocalSimulator(environment, options, started),
  ]);
  const port = await choosePort(
    isPortFixed() ? { fixed: environment.PORT } : { preferred: environment.PORT },
    'the API (PORT)',
  );
  if (port !== environment.PORT)
    options.report(`Port ${environment.PORT} is taken: the API listens on ${port}.`);
  const apiUrl = environment.PUBLIC_URL ?? `http://${environment.HOST}:${port}`;
  const children = {
    ...options,
    environment: childEnvironment({ environment, servers, settings, simulator, port, apiUrl }),
  };
  options.report('Starting the worker and the API…');
  const [worker, api] = await Promise.all([startGateway('worker', children), startGateway('api', children)]);
  started.push(worker, api.supervised);
  await waitUntilServing(
    api.child,
    () => probe(`http://${environment.HOST}:${port}/readyz`),
    readyDeadlineMs,
  );
  const { mongodbUri, temporalAddress } = servers;
  const listening = { ...settings, apiUrl, mongodbUri, temporalAddress };
  const account = await makeAccount(listening);
  await saveLocalSettings(options.dataDir, { ...listening, apiKey: account.apiKey });
  return {
    ...servers,
    ...account,
    simulatorUrl: simulator,
    apiUrl,
    settings: { ...listening, apiKey: account.apiKey },
  };
}

function isPortFixed(): boolean {
  return (rawEnvironment()['PORT'] ?? '') !== '';
}

/** Servers that the environment names are used; the others are found or fetched, and started. */
async function startServers(
  environment: Environment,
  options: LocalOptions,
  started: Started,
): Promise<Servers> {
  const [mongodbUri, temporal] = await Promise.all([
    environment.MONGODB_URI ?? startLocalMongo(environment, options, started),
    environment.TEMPORAL_ADDRESS === undefined
      ? startLocalTemporal(options, started)
      : { temporalAddress: environment.TEMPORAL_ADDRESS, temporalUi: undefined },
  ]);
  return { mongodbUri, ...temporal };
}

async function startLocalMongo(
  { MONGOD_BINARY }: Environment,
  options: LocalOptions,
  started: Started,
): Promise<string> {
  const program = await resolveMongo({
    ...options,
    ...defined({ mongodBinary: MONGOD_BINARY }),
  });
  const first = await startMongoServer({ ...options, program });
  options.report(
    `MongoDB: ${program.kind === 'mongod' ? program.path : 'the Java stand-in'} at ${first.uri}`,
  );
  const port = { fixed: Number(new URL(first.uri).port) };
  started.push(supervise(first, () => startMongoServer({ ...options, program, port }), options.report));
  return first.uri;
}

async function startLocalTemporal(
  options: LocalOptions,
  started: Started,
): Promise<Omit<Servers, 'mongodbUri'>> {
  const binary = await resolveTemporal(options);
  const first = await startTemporalServer({ ...options, binary });
  options.report(`Temporal: ${binary.path} at ${first.address}`);
  const port = { fixed: Number(new URL(`http://${first.address}`).port) };
  const uiPort = first.uiUrl === undefined ? ('none' as const) : { fixed: Number(new URL(first.uiUrl).port) };
  started.push(
    supervise(first, () => startTemporalServer({ ...options, binary, port, uiPort }), options.report),
  );
  return { temporalAddress: first.address, temporalUi: first.uiUrl };
}

/** Only where the local configuration is used: an operator's own gateway.yaml names real upstreams. */
async function startLocalSimulator(
  environment: Environment,
  options: LocalOptions,
  started: Started,
): Promise<string | undefined> {
  if (ownConfiguration(environment) !== undefined) return undefined;
  const port = await choosePort({ preferred: simulatorPort }, 'the simulator');
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port,
    apiKeys: [simulatorApiKey],
    stateFile: resolve(options.dataDir, 'simulator.jsonl'),
  });
  started.push({ stop: () => simulator.close() });
  return simulator.url;
}

/** gateway.yaml of the working directory or the one that GATEWAY_CONFIG names. */
function ownConfiguration(environment: Environment): string | undefined {
  const named = (rawEnvironment()['GATEWAY_CONFIG'] ?? '') !== '';
  return named || existsSync(environment.GATEWAY_CONFIG) ? environment.GATEWAY_CONFIG : undefined;
}

interface ChildFacts {
  readonly environment: Environment;
  readonly servers: Servers;
  readonly settings: LocalSettings;
  readonly simulator: string | undefined;
  readonly port: number;
  readonly apiUrl: string;
}

const loopback = '127.0.0.0/8';

function childEnvironment({
  environment,
  servers,
  settings,
  simulator,
  port,
  apiUrl,
}: ChildFacts): NodeJS.ProcessEnv {
  const parent = rawEnvironment();
  const localConfig = fileURLToPath(new URL('local/gateway.local.yaml', import.meta.url));
  return {
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
    UPSTREAM_ALLOW_PRIVATE_NETWORKS: loopback,
    // Readable payloads in the Temporal UI; set SECRETS_KEY yourself to see them encrypted.
    PAYLOAD_ENCRYPTION: parent['SECRETS_KEY'] === undefined ? 'off' : 'on',
    SECRETS_KEY: settings.secretsKey,
    ADMIN_TOKEN: settings.adminToken,
    ...parent,
    MONGODB_URI: servers.mongodbUri,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    PORT: String(port),
    PUBLIC_URL: apiUrl,
    GATEWAY_CONFIG: ownConfiguration(environment) ?? localConfig,
    ...(simulator === undefined ? {} : { SIMULATOR_URL: simulator, SIMULATOR_API_KEY: simulatorApiKey }),
  };
}

interface Gateway extends Supervised {
  readonly child: ChildServer;
  readonly supervised: Supervised;
}

async function startGateway(role: 'worker' | 'api', options: LocalOptions): Promise<Gateway> {
  const start = (): Promise<ChildServer> =>
    startChild({
      ...options,
      name: role,
      command: process.execPath,
      args: ['--import', 'tsx', resolve(projectDir, 'src/cli.ts'), role],
    });
  const child = await start();
  const supervised = supervise(child, start, options.report);
  return { ...supervised, child, supervised };
}

async function probe(url: string): Promise<void> {
  const { request } = await import('undici');
  const { statusCode, body } = await request(url, { headersTimeout: 5_000 });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
}

await main();
