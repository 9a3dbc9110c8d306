import { resolve } from 'node:path';
import { ConfigError, configExitStatus } from '../config/config-error.ts';
import { isStartedByNpm, rawEnvironment, readEnvironment, type Environment } from '../config/environment.ts';
import { openConfigFile } from '../config/config-file.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { localEnvironment, ownGatewayFile, simulatorPort, withLocalOrigin } from '../config/local-mode.ts';
import { loadOrCreateLocalSettings, saveLocalSettings } from '../config/local-settings.ts';
import type { LocalSettings } from '../config/local-settings.ts';
import { messageOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { identifyProcess } from '../process/process-identity.ts';
import { adapters, providers } from '../providers/index.ts';
import { banner, type BannerFacts } from './banner.ts';
import { DataDirInUseError, lockDataDir } from './data-dir.ts';
import { runDemo } from './demo.ts';
import { findExamples } from './examples.ts';
import { findAnswering, findRunning, waitForRunning, type RunningGateway } from './find-running.ts';
import { makeAccount } from './first-account.ts';
import { LocalServerError, type LocalOptions } from './servers/local-options.ts';
import { choosePort, startOnPort, type PortRequest } from './servers/ports.ts';
import type { StartDisplay } from './start-display.ts';
import { loadGateway, probe, startGateway } from './start-gateway.ts';
import { startServers, type Servers, type Started } from './start-servers.ts';
import { startSimulator } from './start-simulator.ts';
import { followFile, terminalLine } from './terminal-lines.ts';
import { watchGateway } from './watch-gateway.ts';

const runningDeadlineMs = 180_000;
/** A server bound to one of these addresses can be reached through loopback. */
const anyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const keepAliveMs = 3_600_000;

/**
 * Create these promises right after the process starts, because the parent process or the reader may exit at any time.
 */
export interface Launch {
  readonly parentEnded: Promise<void>;
  readonly readerLeft: Promise<void>;
}

/** Runs until Ctrl-C, or until the npm process or the reader of the output exits. */
export async function runStartCommand(display: StartDisplay, launch: Launch): Promise<void> {
  await inProcessTree({ display, launch }, async (started) => {
    const plan = readPlan();
    const { facts, listeningUrl, logFiles } = await startLocalMode(plan, display, started).catch(
      async (error: unknown) => Promise.reject(await withAddress(error, plan.dataDir)),
    );
    display.close();
    display.print(banner(facts));
    const watch = watchGateway({ probe: () => probe(listeningUrl), report: (line) => display.report(line) });
    const logs = await Promise.all(
      logFiles.map((file) =>
        followFile(file, (text) => {
          const line = terminalLine(text);
          if (line !== undefined) display.print(line);
        }),
      ),
    );
    started.push(watch, ...logs);
    // The child processes do not keep this process alive. Without this timer, it would exit at once if all servers are
    // external.
    const keepAlive = setInterval(() => undefined, keepAliveMs);
    started.push({ stop: () => Promise.resolve(clearInterval(keepAlive)) });
  });
}

export async function runDemoCommand(display: StartDisplay, launch: Launch): Promise<void> {
  await inProcessTree({ display, launch }, async (started, end) => {
    const { dataDir } = readDataDir();
    const running = (await findRunning(dataDir)) ?? (await startOrFind(dataDir, display, started));
    display.close();
    const succeeded = await runDemo({ ...running, print: display.print });
    await end(succeeded ? 0 : 1);
  });
}

type Body = (started: Started, end: (status: number) => Promise<void>) => Promise<void>;

interface Surroundings {
  readonly display: StartDisplay;
  readonly launch: Launch;
}

/**
 * Runs `body`. When `body` calls `end`, or after a signal or an error, stops everything that was started, in reverse
 * order.
 */
async function inProcessTree({ display, launch }: Surroundings, body: Body): Promise<void> {
  const started: Started = [];
  let ending: Promise<void> | undefined;
  const end = (status: number): Promise<void> => {
    ending ??= (async () => {
      for (const one of started.splice(0).reverse()) {
        await one.stop().catch((error: unknown) => display.report(messageOf(error)));
      }
      process.exit(status);
    })();
    return ending;
  };
  const endFor = (reason: string): void => {
    // One Ctrl-C may send several signals, first from the terminal and then from npm.
    if (ending !== undefined) return;
    display.close();
    display.report(`\n${reason}: stopping everything that was started here…`);
    void end(0);
  };
  process.on('SIGINT', endFor);
  process.on('SIGTERM', endFor);
  void launch.readerLeft.then(() => end(0));
  if (isStartedByNpm()) void launch.parentEnded.then(() => endFor('npm has ended'));
  try {
    await body(started, end);
  } catch (error) {
    if (ending !== undefined) return;
    display.close();
    const known = error instanceof ConfigError || error instanceof LocalServerError;
    display.report(known ? error.message : String(error instanceof Error ? error.stack : error));
    await end(error instanceof ConfigError ? configExitStatus : 1);
  }
}

interface Plan {
  readonly environment: Environment;
  readonly dataDir: string;
  /** The operator's own configuration file. Undefined if the simulator's configuration is used instead. */
  readonly own: string | undefined;
  readonly config: GatewayConfig;
}

function readPlan(): Plan {
  const { environment, dataDir } = readDataDir();
  const own = ownGatewayFile(rawEnvironment());
  // The configuration file cannot refer to these values, because they are generated later.
  const variables = localEnvironment(rawEnvironment(), { secretsKey: '', adminToken: '', account: '' });
  try {
    const file = openConfigFile(variables['GATEWAY_CONFIG'] ?? '', { ...adapters, environment: variables });
    return { environment, dataDir, own, config: file.own.config };
  } catch (error) {
    throw withLocalOrigin(error, own);
  }
}

function readDataDir(): { environment: Environment; dataDir: string } {
  const environment = readEnvironment();
  return { environment, dataDir: resolve(environment.DATA_DIR) };
}

async function withAddress(error: unknown, dataDir: string): Promise<unknown> {
  if (!(error instanceof DataDirInUseError)) return error;
  const running = await findAnswering(dataDir);
  return running === undefined
    ? error
    : new LocalServerError(`${error.message}\nIts gateway is at ${running.apiUrl}.`);
}

/** If another process is already starting a gateway in the same directory, waits for that process. */
async function startOrFind(
  dataDir: string,
  display: StartDisplay,
  started: Started,
): Promise<RunningGateway> {
  try {
    const { facts, listeningUrl } = await startLocalMode(readPlan(), display, started);
    return { apiUrl: listeningUrl, apiKey: facts.settings.apiKey };
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    display.report('Waiting for the gateway that is starting in this data directory…');
    const running = await waitForRunning(dataDir, runningDeadlineMs);
    if (running === undefined) throw error;
    return running;
  }
}

interface LocalMode {
  readonly facts: BannerFacts & { readonly settings: { readonly apiKey: string } };
  /** The address at which the gateway listens on this machine. PUBLIC_URL may point elsewhere. */
  readonly listeningUrl: string;
  readonly logFiles: readonly string[];
}

async function startLocalMode(plan: Plan, display: StartDisplay, started: Started): Promise<LocalMode> {
  const { environment, dataDir, own, config } = plan;
  const lock = await lockDataDir(dataDir);
  started.push({ stop: () => lock.release() });
  const options = { dataDir, report: display.report, environment: rawEnvironment() };
  const portRequest = portRequestOf(environment);
  // Check the port before the downloads, which may take minutes. It is checked again when the API binds it.
  if (typeof portRequest === 'object' && 'fixed' in portRequest) await choosePort(portRequest, portPurpose);
  const settings = await loadOrCreateLocalSettings(dataDir);
  const [startRole, servers, simulatorUrl] = await Promise.all([
    loadGateway(options, started),
    startServers(environment, options, started),
    own === undefined ? startSimulator(simulatorPort, options, started) : undefined,
  ]);
  const { used, apiUrl, listeningUrl, logFiles } = await startOnPort(portRequest, portPurpose, (port) =>
    startGatewayOn(port, {
      environment,
      options,
      settings: { ...settings, simulatorUrl },
      servers,
      startRole,
      started,
    }),
  );
  const account = await makeAccount(used);
  const startedBy = await identifyProcess(process.pid);
  const saved = { ...used, apiKey: account.apiKey, ...defined({ startedBy }) };
  await saveLocalSettings(dataDir, saved);
  // Measured from the start of the process, so that it includes loading the code.
  const readySeconds = performance.now() / 1000;
  return {
    facts: {
      ...servers,
      apiUrl,
      simulatorUrl,
      gatewayFile: own,
      settings: saved,
      examples: findExamples(config, providers),
      balance: account.balance,
      readySeconds,
      dataDir,
    },
    listeningUrl,
    logFiles,
  };
}

const portPurpose = 'the API (PORT)';

function portRequestOf({ PORT }: Environment): PortRequest {
  if (PORT === 0) return 'any';
  return (rawEnvironment()['PORT'] ?? '') === '' ? { preferred: PORT } : { fixed: PORT };
}

interface GatewayParts {
  readonly environment: Environment;
  readonly options: LocalOptions;
  readonly settings: LocalSettings;
  readonly servers: Servers;
  readonly startRole: Awaited<ReturnType<typeof loadGateway>>;
  readonly started: Started;
}

async function startGatewayOn(
  port: number,
  { environment, options, settings, servers, startRole, started }: GatewayParts,
) {
  if (port !== environment.PORT && environment.PORT !== 0)
    options.report(`Port ${environment.PORT} is taken, so the API listens on port ${port}.`, 'lasting');
  const host = anyAddress.has(environment.HOST) ? '127.0.0.1' : environment.HOST;
  const listeningUrl = `http://${host}:${port}`;
  const used: LocalSettings = {
    ...settings,
    adminToken: environment.ADMIN_TOKEN ?? settings.adminToken,
    apiUrl: listeningUrl,
    mongodbUri: servers.mongodbUri,
    temporalAddress: servers.temporalAddress,
  };
  options.report('Starting the worker and the API…');
  const apiUrl = environment.PUBLIC_URL ?? listeningUrl;
  const variables = {
    ...localEnvironment(rawEnvironment(), used),
    PORT: String(port),
    PUBLIC_URL: apiUrl,
    TEMPORAL_UI_URL: environment.TEMPORAL_UI_URL ?? servers.temporalUi,
  };
  const logFiles = await startGateway(
    listeningUrl,
    { environment: variables, report: options.report, startRole },
    started,
  );
  return { used, apiUrl, listeningUrl, logFiles };
}
