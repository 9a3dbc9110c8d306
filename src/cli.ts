import { Command } from 'commander';
import { ConfigError, configExitStatus, readEnvironment } from './config.ts';
import type { Environment } from './config.ts';
import { openCore } from './core.ts';
import type { Core } from './core.ts';
import { createLogger } from './log.ts';
import { startApi } from './server.ts';
import { installRuntime, startWorker } from './worker.ts';

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
  if (name === 'worker') installRuntime(log, environment);
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

async function main(): Promise<void> {
  const program = new Command('gateway').description('Mediary: one address for video and image generation.');
  program
    .command('api')
    .description('Serve HTTP on HOST and PORT.')
    .action(() => serve('api', startApi));
  program
    .command('worker')
    .description('Run the Temporal workers.')
    .action(() => serve('worker', startWorker));
  try {
    await program.parseAsync();
  } catch (error) {
    const expected = error instanceof ConfigError;
    console.error(expected ? error.message : error);
    process.exit(expected ? configExitStatus : 1);
  }
}

await main();
