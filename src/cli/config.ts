import type { Command } from 'commander';
import { namespacePollsDefault, pollsOfWorker } from '../temporal/poller-budget.ts';
import { adminCommand, lookCommand, outputOf } from './context.ts';
import type { CliContext } from './context.ts';
import { addDraftCommands } from './config-draft.ts';
import { parseCount } from './option-values.ts';
import { examples } from './program.js';
import { showPublished, withNodes } from './published-config.ts';

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
        if (dryRun === true) output.item(published, withNodes(published));
        else showPublished(published, output, context);
      }),
    );

  addVersionCommands(config, context);
  addDraftCommands(
    config
      .command('draft')
      .description('Prepares changes of the configuration before they are published.')
      .addHelpText('after', examples('config draft diff')),
    context,
  );
}

function addVersionCommands(config: Command, context: CliContext): void {
  config
    .command('versions')
    .description('Lists the version in force and those before it, newest first.')
    .addHelpText('after', examples('config versions'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/config/versions', {});
        output.rows(rows, { columns: ['version', 'published_at', 'published_by', 'reason'], more: ['hash'] });
      }),
    );

  config
    .command('rollback')
    .description(
      'Publishes an earlier version again, under a new number. Ends with status 1 if a process cannot load it.',
    )
    .argument('<version>', 'the number of the version, as `config versions` lists it', parseCount)
    .option('--dry-run', 'publishes nothing: shows what would change')
    .option('--reason <text>')
    .addHelpText(
      'after',
      examples('config rollback 3 --reason "prices were wrong"', 'config rollback 3 --dry-run'),
    )
    .action(
      adminCommand(
        context,
        async ({ client, output }, version: number, { dryRun, reason }: ReloadOptions) => {
          const published = await client.call('POST', '/config/rollback', {
            version,
            dry_run: dryRun,
            reason,
          });
          if (dryRun === true) output.item(published);
          else showPublished(published, output, context);
        },
      ),
    );
}

interface ReloadOptions {
  readonly dryRun?: true;
  readonly reason?: string;
}
