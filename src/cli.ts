import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { addOperatorCommands } from './cli/commands.ts';
import { CommandError } from './cli/command-error.ts';
import { createTerminal, failureText } from './cli/terminal.ts';
import type { CliContext, AcceptedClock, RotateOptions } from './cli/context.ts';
import { createProgram } from './cli/program.js';
import { ServerAbilityError } from './base/server-abilities.ts';
import { ConfigError, configExitStatus } from './config/config-error.ts';
import { watchReloadSignal } from './config/reload-signal.ts';
import type { Environment } from './config/environment.ts';
import type { Core } from './compose/core.ts';
import type { Mongo } from './store/mongo.ts';
import type { OperatorAct } from './commands/audit-log.ts';
import { endSignalled, parentEnded, readerLeft } from './observability/process-ends.ts';

/**
 * `npx gateway <verb>` runs a gateway process or an operator's command, and loads only the modules that it needs.
 * Without a verb, `src/gateway.js` prints the help and does not load this file.
 */

const parent = process.ppid;

interface Running {
  stop(): Promise<void>;
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
  readonly listensOn: readonly ('PORT' | 'METRICS_PORT')[];
  /** Must not start any work before it resolves, because the process may be stopped at any moment until then. */
  readonly start: (core: Core) => Promise<Running>;
  /** Called before the process starts its work. The watch is closed after that work has stopped. */
  readonly watch: (core: Core) => Promise<Watch | undefined>;
  readonly signalled: Promise<void>;
}

/**
 * Runs until SIGINT or SIGTERM, or until the npm process that started this one exits. Then accepts no new work,
 * finishes the work in flight, and closes connections.
 */
async function serve({ name, listensOn, start, watch, signalled }: Service): Promise<void> {
  const { isStartedByNpm, readEnvironment } = await import('./config/environment.ts');
  const environment = readEnvironment();
  const { checkListening } = await import('./config/check-listening.ts');
  await checkListening(environment, listensOn);
  const log = await openLog(environment);
  const { openCore } = await import('./compose/core.ts');
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

/**
 * Metrics are served until the process exits, so that they cover the shutdown too. `more` is the URL of further metrics
 * to include.
 */
async function serveMetrics({ environment, metrics }: Core, more?: string): Promise<Watch | undefined> {
  const { HOST: host, METRICS_PORT: port } = environment;
  if (port === undefined) return undefined;
  const { startMetricsServer } = await import('./observability/metrics-server.ts');
  return startMetricsServer({ metrics, more, host, port });
}

async function serveApi(): Promise<void> {
  watchReloadSignal();
  const signalled = endSignalled();
  const { startApi } = await import('./api.ts');
  const listensOn = ['PORT', 'METRICS_PORT'] as const;
  const start = (core: Core) => startApi(core, { isPrepared: true });
  await serve({ name: 'api', listensOn, start, watch: serveMetrics, signalled });
}

async function serveWorker(): Promise<void> {
  watchReloadSignal();
  const signalled = endSignalled();
  const [{ startWorker }, { startCensus }, { installRuntime }] = await Promise.all([
    import('./worker.ts'),
    import('./compose/census.ts'),
    import('./temporal/install-runtime.ts'),
  ]);
  const { readEnvironment } = await import('./config/environment.ts');
  const environment = readEnvironment();
  const moreMetrics = await installRuntime(await openLog(environment), environment);
  const watch = async (core: Core): Promise<Watch | undefined> => {
    const server = await serveMetrics(core, moreMetrics);
    if (server === undefined) return undefined;
    const census = startCensus(core);
    return {
      close() {
        void census.stop();
        server.close();
      },
    };
  };
  await serve({ name: 'worker', listensOn: ['METRICS_PORT'], start: startWorker, watch, signalled });
}

/** Writes directly to MongoDB, so it works whether or not gateway processes are running. */
async function rotateSecrets({ reason, onProgress }: RotateOptions) {
  const { MONGODB_URI: uri, SECRETS_KEY: keys } = await readShellEnvironment();
  const [rotation, { createSealer }, { connectMongo }, { createSealedPlaces }] = await Promise.all([
    import('./access/rotate-secrets.ts'),
    import('./access/sealer.ts'),
    import('./store/mongo.ts'),
    import('./store/sealed-places.ts'),
  ]);
  const mongo = await connectMongo(uri, { appName: 'mediary-cli' });
  try {
    const places = createSealedPlaces(mongo.db);
    const sealer = createSealer(keys);
    const rotate = () => rotation.rotateSecrets({ places, sealer, onProgress });
    return await keepShellAct(mongo, { action: 'rotateSecrets', target: sealer.keyId, reason }, rotate);
  } finally {
    await mongo.close();
  }
}

async function acceptClock(reason: string): Promise<AcceptedClock> {
  const [{ connectMongo }, { createClockMarks }, { readDatabaseTime }] = await Promise.all([
    import('./store/mongo.ts'),
    import('./store/clock-marks.ts'),
    import('./store/database-clock.ts'),
  ]);
  const { MONGODB_URI: uri } = await readShellEnvironment();
  const mongo = await connectMongo(uri, { appName: 'mediary-cli' });
  try {
    const marks = createClockMarks(mongo.db);
    const jump = (await marks.find())?.jump;
    if (jump === undefined) return { at: await readDatabaseTime(mongo.db) };
    return await keepShellAct(mongo, { action: 'acceptClock', target: 'clock', reason }, async () => {
      const at = await readDatabaseTime(mongo.db);
      await marks.confirm(at);
      return { at, jump };
    });
  } finally {
    await mongo.close();
  }
}

async function readShellEnvironment() {
  const [{ readOperatingEnvironment }, { readEnvironment }] = await Promise.all([
    import('./config/local-mode.ts'),
    import('./config/environment.ts'),
  ]);
  const { MONGODB_URI, SECRETS_KEY } = readEnvironment(await readOperatingEnvironment());
  if (MONGODB_URI === undefined || SECRETS_KEY === undefined) {
    throw new ConfigError('The environment', [
      'MONGODB_URI, SECRETS_KEY: required unless DATA_DIR contains a local mode’s settings',
    ]);
  }
  return { MONGODB_URI, SECRETS_KEY };
}

async function keepShellAct<Answer>(
  { db }: Mongo,
  act: Pick<OperatorAct, 'action' | 'target' | 'reason'>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const [{ createAuditLog }, { createAuditStore }, { createLogger }] = await Promise.all([
    import('./commands/audit-log.ts'),
    import('./store/audit.ts'),
    import('./observability/log.ts'),
  ]);
  const log = createLogger({ level: 'warn', format: 'pretty', destination: process.stderr });
  const auditLog = createAuditLog({ audit: createAuditStore(db), log, now: Date.now, randomBytes });
  const who = { by: `shell:${shellUser()}`, via: 'shell', address: hostname() } as const;
  return auditLog.keep({ ...act, ...who, input: {} }, run);
}

function shellUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

/** If local mode was started in this DATA_DIR, loads the configuration that `npm start` would use. */
async function loadConfig() {
  const [{ readOperatingEnvironment }, { readEnvironment }, { openConfigFile }, { adapters }, vendorChecks] =
    await Promise.all([
      import('./config/local-mode.ts'),
      import('./config/environment.ts'),
      import('./config/config-file.ts'),
      import('./providers/index.ts'),
      import('./providers/vendor-files/vendor-checks.ts'),
    ]);
  const variables = await readOperatingEnvironment();
  const file = readEnvironment(variables).GATEWAY_CONFIG;
  const { own, refusal } = openConfigFile(file, { ...adapters, environment: variables });
  const violations = await vendorChecks.createVendorChecks()(own.config);
  if (violations.length > 0) throw refusal(violations);
  return { file, config: own.config };
}

async function diagnose() {
  const [{ diagnoseServers }, { readOperatingEnvironment }] = await Promise.all([
    import('./compose/doctor.ts'),
    import('./config/local-mode.ts'),
  ]);
  return diagnoseServers({ variables: readOperatingEnvironment, loadConfig });
}

const context: CliContext = {
  print: (text) => console.log(text),
  warn: (text) => console.error(text),
  isTerminal: process.stdout.isTTY,
  isColoured: process.stdout.isTTY && process.stdout.hasColors(),
  now: Date.now,
  environment: async () => (await import('./config/environment.ts')).readEnvironment(),
  loadConfig,
  loadProviders: async () => (await import('./providers/index.ts')).providers,
  rotateSecrets,
  acceptClock,
  diagnose,
  ...(process.stdin.isTTY && process.stderr.isTTY
    ? { terminal: createTerminal(process.stdin, process.stderr) }
    : {}),
  fail: (status) => {
    process.exitCode = status;
  },
};

async function main(): Promise<void> {
  // If the reader closes the pipe, as `| head` does, finish the command's work and discard the rest of the output.
  void readerLeft([process.stdout, process.stderr]);
  const program = createProgram({ api: serveApi, worker: serveWorker });
  await addOperatorCommands(program, context, process.argv.slice(2));
  try {
    await program.parseAsync();
  } catch (error) {
    const expected = [ConfigError, CommandError, ServerAbilityError].some((kind) => error instanceof kind);
    console.error(failureText(error, expected));
    if (error instanceof CommandError) process.exit(error.status);
    process.exit(error instanceof ConfigError ? configExitStatus : 1);
  }
}

await main();
