#!/usr/bin/env node
import { Command } from 'commander';
import { readVersion } from './cli/program.js';

/**
 * The entry point of `npx mediary`, `npm start` and `npm run demo`. Plain JavaScript for the same reason as
 * `src/gateway.js`.
 */

/** @param {boolean} demo */
async function start(demo) {
  await import('./typescript.js');
  const { startLocalMode } = await import('./local.ts');
  await startLocalMode(demo);
}

const program = new Command('mediary')
  .description(
    'Start a complete local gateway, with its servers, a simulated upstream and an account with credit.',
  )
  .version(readVersion())
  .allowExcessArguments(false)
  .action(() => start(false))
  .addHelpText(
    'after',
    '\nSettings are environment variables (PORT, DATA_DIR, GATEWAY_CONFIG). See docs/configuration.md.',
  );
program
  .command('demo')
  .description('Run one task end to end and exit. Uses the gateway that is running here, if there is one.')
  .action(() => start(true));
await program.parseAsync();
