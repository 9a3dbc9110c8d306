import type { Command } from 'commander';
import { z } from 'zod';
import { namespacePollsDefault, pollsOfWorker } from '../temporal/poller-budget.ts';
import type { Row } from './admin-client.ts';
import { adminCommand, lookCommand, outputOf } from './context.ts';
import type { CliContext } from './context.ts';
import { examples } from './program.js';

export function addConfigCommands(config: Command, context: CliContext): void {
  config
    .command('check')
    .description(
      'Checks the environment and the configuration file that a start here would use. Exits with status 78 if something is wrong.',
    )
    .addHelpText('after', examples('config check'))
    .action(async (_options: object, command: Command) => {
      await context.environment();
      const { file, config: loaded } = await context.loadConfig();
      const { channels, models, currency, hash } = loaded;
      const polls = pollsOfWorker(channels.length);
      outputOf(command, context).item({
        file,
        hash,
        currency,
        channels: channels.map(({ id }) => id),
        models: models.map(({ id }) => id),
        polls_per_worker: polls,
        temporal: `frontend.namespaceCount, ${namespacePollsDefault} unless set, must be at least the polls of all worker processes together`,
      });
    });

  config
    .command('show')
    .description('Shows the published configuration and which process runs which version.')
    .addHelpText('after', examples('config show'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const shown = await client.call('GET', '/config');
        output.item(shown, withNodes(shown));
      }),
    );

  config
    .command('reload')
    .description(
      'Publishes the file of the API that answers: every process takes it, or says why it cannot (then the status is 1). A file with mistakes changes nothing.',
    )
    .option('--dry-run', 'publishes nothing: shows what the file would change')
    .option('--reason <text>')
    .addHelpText('after', examples('config reload --reason "new prices"', 'config reload --dry-run'))
    .action(
      adminCommand(context, async ({ client, output }, { dryRun, reason }: ReloadOptions) => {
        const published = await client.call('POST', '/config/reload', { dry_run: dryRun, reason });
        output.item(published, withNodes(published));
        if (dryRun === true) return;
        if (nodesOf(published).some(({ refused }) => refused !== null)) context.fail(1);
      }),
    );
}

interface ReloadOptions {
  readonly dryRun?: true;
  readonly reason?: string;
}

const nodesSchema = z.object({ nodes: z.array(z.record(z.string(), z.unknown())) });

function nodesOf(config: Row): readonly Row[] {
  return nodesSchema.parse(config).nodes;
}

/** For people: of each process what concerns the configuration. */
function withNodes({ object: _object, ...config }: Row): Row {
  const nodes = nodesOf(config).map(({ id, state, config: runs, refused }) => ({ id, state, runs, refused }));
  return { ...config, nodes };
}
