import { addOperatorCommands } from './cli/commands.ts';
import { CommandError } from './cli/command-error.ts';
import { createTerminal, failureText } from './cli/terminal.ts';
import type { CliContext } from './cli/context.ts';
import { createProgram } from './cli/program.js';
import { ConfigError, configExitStatus } from './config/config-error.ts';
import { watchReloadSignal } from './config/reload-signal.ts';
import type { Environment } from './config/environment.ts';
import type { Core } from './core.ts';
import { endSignalled, parentEnded, readerLeft } from './observability/process-ends.ts';

/**
 * `npx gateway <verb>`: the processes of the gateway, and the operators' verbs. Each loads what it needs when it
 * runs. A line without a verb does not come as far as here (`src/gateway.js`).
 */

const parent = process.ppid;

interface Running {
  stop(): Promise<void>;
  /** Rejects on a fatal error. */
  readonly ended?: Promise<void>;
}

async function openLog({ LOG_LEVEL, LOG_FORMAT }: Environment) {
  const { createLogger } = await import('./observability/log.ts');
  return createLogger({ level: LOG_LEVEL, format: LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json') });
}

interface Watch {
  close(): void;
}

interface Service {
  readonly name: string;
  /** Begins no work before it resolves: until then the process may end at any moment. */
  readonly start: (core: Core) => Promise<Running>;
  /** Begins before its work, and ends after it. */
  readonly watch: (core: Core) => Promise<Watch | undefined>;
  /** Resolves at SIGINT or SIGTERM. */
  readonly signalled: Promise<void>;
}

/**
 * Runs until SIGINT, SIGTERM or the end of the npm that started it, then ends in order: no new work, what is in flight,
 * connections.
 */
async function serve({ name, start, watch, signalled }: Service): Promise<void> {
  const { isStartedByNpm, readEnvironment } = await import('./config/environment.ts');
  const environment = readEnvironment();
  const log = await openLog(environment);
  const { openCore } = await import('./core.ts');
  const ends = [signalled, ...(isStartedByNpm() ? [parentEnded(parent)] : [])];
  const opened = openCore(environment, log).then(async (core) => {
    const watched = await watch(core);
    return { core, watched, running: await start(core) };
  });
  const service = await Promise.race([opened, ...ends.map((end) => end.then(() => undefined))]);
  if (service === undefined) {
    log.info({ name }, 'shutting down before the start was complete');
    process.exit(0);
  }
  const { core, watched, running } = service;
  log.info({ name }, 'started');
  let failed: unknown;
  await Promise.race([
    ...ends,
    (running.ended ?? new Promise<void>(() => undefined)).catch((error: unknown) => (failed = error)),
  ]);
  if (failed !== undefined) log.error({ name, err: failed }, 'fatal error');
  else log.info({ name }, 'shutting down');
  await running.stop();
  watched?.close();
  await core.close();
  process.exit(failed === undefined ? 0 : 1);
}

/** Until the process ends: what drains is watched, too. `more`: where else numbers of this process are. */
async function serveMetrics({ environment, metrics }: Core, more?: string): Promise<Watch | undefined> {
  const { HOST: host, METRICS_PORT: port } = environment;
  if (port === undefined) return undefined;
  const { startMetricsServer } = await import('./observability/metrics-server.ts');
  return startMetricsServer({ metrics, more, host, port });
}

/** A worker also counts the whole system, when it is its turn. */
async function serveWorkerMetrics(core: Core, more: string | undefined): Promise<Watch | undefined> {
  const server = await serveMetrics(core, more);
  if (server === undefined) return undefined;
  const [
    { censusIntervalMs, createCensusTaker },
    { createDuty },
    { takeCensus },
    { ledgerCollection },
    { readLedgerTotals },
  ] = await Promise.all([
    import('./observability/census.ts'),
    import('./capacity/duty.ts'),
    import('./tasks/take-census.ts'),
    import('./ledger/collection.ts'),
    import('./ledger/totals.ts'),
  ]);
  const ledger = ledgerCollection(core.mongo.db);
  const census = createCensusTaker({
    ...core.metrics,
    duty: createDuty({
      ...core,
      name: 'census',
      duties: core.stores.duties,
      silenceMs: 3 * censusIntervalMs,
    }),
    take: () => takeCensus({ ...core, ledgerTotals: () => readLedgerTotals(ledger) }),
    onError: (err) =>
      core.log.warn({ err }, 'the system could not be counted; it is counted at the next turn'),
  });
  census.start();
  return {
    close() {
      census.stop();
      server.close();
    },
  };
}

async function serveApi(): Promise<void> {
  watchReloadSignal();
  const signalled = endSignalled();
  const { startApi } = await import('./api.ts');
  await serve({ name: 'api', start: startApi, watch: serveMetrics, signalled });
}

async function serveWorker(): Promise<void> {
  watchReloadSignal();
  const signalled = endSignalled();
  const [{ startWorker }, { installRuntime }] = await Promise.all([
    import('./worker.ts'),
    import('./temporal/install-runtime.ts'),
  ]);
  const { readEnvironment } = await import('./config/environment.ts');
  const environment = readEnvironment();
  const moreMetrics = await installRuntime(await openLog(environment), environment);
  const watch = (core: Core) => serveWorkerMetrics(core, moreMetrics);
  await serve({ name: 'worker', start: startWorker, watch, signalled });
}

/** Needs no process of the gateway, and disturbs none. */
async function rotateSecrets(onProgress: (line: string) => void) {
  const [{ readOperatingEnvironment }, { readEnvironment }] = await Promise.all([
    import('./config/local-mode.ts'),
    import('./config/environment.ts'),
  ]);
  const { MONGODB_URI: uri, SECRETS_KEY: keys } = readEnvironment(await readOperatingEnvironment());
  if (uri === undefined || keys === undefined) {
    throw new ConfigError('The environment', [
      'MONGODB_URI, SECRETS_KEY: required where no local mode was started (DATA_DIR)',
    ]);
  }
  const [rotation, { createSealer }, { connectMongo }, { createSealedPlaces }] = await Promise.all([
    import('./access/rotate-secrets.ts'),
    import('./access/sealer.ts'),
    import('./store/mongo.ts'),
    import('./store/sealed-places.ts'),
  ]);
  const mongo = await connectMongo(uri, { appName: 'mediary-cli' });
  try {
    const places = createSealedPlaces(mongo.db);
    return await rotation.rotateSecrets({ places, sealer: createSealer(keys), onProgress });
  } finally {
    await mongo.close();
  }
}

/** Where a local mode was started, the file that `npm start` would use. */
async function loadConfig() {
  const [{ readOperatingEnvironment }, { readEnvironment }, { loadGatewayConfig }, { adapters }] =
    await Promise.all([
      import('./config/local-mode.ts'),
      import('./config/environment.ts'),
      import('./config/gateway-file.ts'),
      import('./providers/index.ts'),
    ]);
  const variables = await readOperatingEnvironment();
  const file = readEnvironment(variables).GATEWAY_CONFIG;
  return { file, config: loadGatewayConfig(file, variables, adapters) };
}

const context: CliContext = {
  print: (text) => console.log(text),
  isTerminal: process.stdout.isTTY,
  isColoured: process.stdout.isTTY && process.stdout.hasColors(),
  now: Date.now,
  environment: async () => (await import('./config/environment.ts')).readEnvironment(),
  loadConfig,
  loadProviders: async () => (await import('./providers/index.ts')).providers,
  rotateSecrets,
  ...(process.stdin.isTTY && process.stderr.isTTY
    ? { terminal: createTerminal(process.stdin, process.stderr) }
    : {}),
  fail: (status) => {
    process.exitCode = status;
  },
};

async function main(): Promise<void> {
  // With `| head` a verb still does what it was asked to; the rest of its output is discarded.
  void readerLeft([process.stdout, process.stderr]);
  const program = createProgram({ api: serveApi, worker: serveWorker });
  await addOperatorCommands(program, context, process.argv.slice(2));
  try {
    await program.parseAsync();
  } catch (error) {
    const expected = error instanceof ConfigError || error instanceof CommandError;
    console.error(failureText(error, expected));
    if (error instanceof CommandError) process.exit(error.status);
    process.exit(error instanceof ConfigError ? configExitStatus : 1);
  }
}

await main();
