import { userInfo } from 'node:os';
import { Command } from 'commander';
import { addOperatorCommands } from './cli/commands.ts';
import type { CliContext } from './cli/context.ts';
import { CommandError } from './cli/command-error.ts';
import { rebuildProjection } from './cli/rebuild-projection.ts';
import { listTaskWorkflows } from './cli/task-workflows.ts';
import { runLedgerVerification } from './cli/verify-ledger.ts';
import { ConfigError, configExitStatus } from './config/config-error.ts';
import { rawEnvironment, readEnvironment } from './config/environment.ts';
import { loadGatewayConfig } from './config/gateway-file.ts';
import type { Environment } from './config/environment.ts';
import type { Core } from './core.ts';
import { readLocalSettings } from './config/local-settings.ts';
import { createLogger } from './observability/log.ts';
import { adapters } from './providers/index.ts';
import { createImageLeaseStore } from './store/image-leases.ts';
import { connectMongo } from './store/mongo.ts';
import { createTaskStore } from './store/tasks.ts';
import { createTemporalClient, temporalSettings } from './temporal/connection.ts';
import { createWorkflowLookup } from './temporal/workflow-lookup.ts';

/** `npm run gateway -- <verb>`: the processes of the gateway, and the operators' verbs. */

interface Running {
  stop(): Promise<void>;
  /** Rejects when the process cannot go on. */
  readonly ended?: Promise<void>;
}

function logFor({ LOG_LEVEL, LOG_FORMAT }: Environment) {
  return createLogger({ level: LOG_LEVEL, format: LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json') });
}

/** Runs until SIGINT or SIGTERM, then ends in order: no new work, what is on its way, connections. */
async function serve(name: string, start: (core: Core) => Promise<Running>): Promise<void> {
  const environment = readEnvironment();
  const log = logFor(environment);
  const { openCore } = await import('./core.ts');
  const core = await openCore(environment, log);
  const running = await start(core);
  log.info({ name }, 'started');
  const signalled = new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  let failed: unknown;
  await Promise.race([
    signalled,
    (running.ended ?? new Promise<void>(() => undefined)).catch((error: unknown) => (failed = error)),
  ]);
  if (failed !== undefined) log.error({ name, err: failed }, 'cannot go on');
  else log.info({ name }, 'ending');
  await running.stop();
  await core.close();
  process.exit(failed === undefined ? 0 : 1);
}

/** The processes' code is loaded when a process starts: the other verbs answer in no time without it. */
async function serveApi(): Promise<void> {
  const { startApi } = await import('./api.ts');
  await serve('api', startApi);
}

async function serveWorker(): Promise<void> {
  const { installRuntime, startWorker } = await import('./worker.ts');
  const environment = readEnvironment();
  installRuntime(logFor(environment), environment);
  await serve('worker', startWorker);
}

/** Makes no index and changes nothing: a missing index is among what it looks for. */
async function verifyLedger(onProgress: (line: string) => void) {
  const environment = readEnvironment();
  const local = await readLocalSettings(environment.DATA_DIR);
  const mongodbUri = environment.MONGODB_URI ?? local?.mongodbUri;
  const temporalAddress = environment.TEMPORAL_ADDRESS ?? local?.temporalAddress;
  if (mongodbUri === undefined || temporalAddress === undefined) {
    throw new ConfigError('The environment', [
      'MONGODB_URI, TEMPORAL_ADDRESS: required to verify the ledger where there is no local mode (DATA_DIR)',
    ]);
  }
  const mongo = await connectMongo(mongodbUri, { appName: 'mediary-cli' });
  const client = createTemporalClient(temporalSettings(environment, temporalAddress, undefined));
  try {
    return await runLedgerVerification({
      db: mongo.db,
      workflows: createWorkflowLookup(client, environment.TASK_QUEUE_PREFIX),
      leases: createImageLeaseStore(mongo.db),
      onProgress,
    });
  } finally {
    await Promise.all([mongo.close(), client.connection.close()]);
  }
}

async function rebuild() {
  const { openCore } = await import('./core.ts');
  const environment = readEnvironment();
  const core = await openCore(environment, logFor({ ...environment, LOG_LEVEL: 'warn' }));
  try {
    return await rebuildProjection({
      workflows: listTaskWorkflows(core.client, environment.TASK_QUEUE_PREFIX),
      tasksAt: (milliseconds) => createTaskStore(core.mongo.db, () => milliseconds),
      attempts: core.stores.attempts,
      ledger: core.ledger,
      channels: core.channels,
    });
  } finally {
    await core.close();
  }
}

const context: CliContext = {
  print: (text) => console.log(text),
  environment: () => readEnvironment(),
  operator: userInfo().username,
  loadConfig: () => loadGatewayConfig(readEnvironment().GATEWAY_CONFIG, rawEnvironment(), adapters),
  verifyLedger,
  rebuildProjection: rebuild,
  fail: (status) => {
    process.exitCode = status;
  },
};

async function main(): Promise<void> {
  const program = new Command('gateway').description('Mediary: one address for video and image generation.');
  program.command('api').description('Serve HTTP on HOST and PORT.').action(serveApi);
  program.command('worker').description('Run the Temporal workers.').action(serveWorker);
  addOperatorCommands(program, context);
  try {
    await program.parseAsync();
  } catch (error) {
    const expected = error instanceof ConfigError || error instanceof CommandError;
    console.error(expected ? error.message : error);
    process.exit(error instanceof ConfigError ? configExitStatus : 1);
  }
}

await main();
