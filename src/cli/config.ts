import type { Command } from 'commander';
import { z } from 'zod';
import { namespacePollsDefault, pollsOfWorker } from '../temporal/poller-budget.ts';
import type { Row } from './admin-client.ts';
import { adminCommand, lookCommand, outputOf, type CliContext } from './context.ts';
import { addDraftCommands } from './config-draft.ts';
import { parseCount } from './option-values.ts';
import { examples } from './program.js';
import { showPublished, withNodes } from './published-config.ts';

export function addConfigCommands(config: Command, context: CliContext): void {
  config
    .command('check')
    .description(
      'Checks the environment and the configuration file that a process started here would use. Exits with status 78 if something is wrong.',
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
        temporal: `frontend.namespaceCount (default: ${namespacePollsDefault}) must be at least the total number of polls of all worker processes`,
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
      'Publishes the configuration file of the API process that receives this request. Every process loads it. Exits with status 1 if a process reports that it cannot load the file. A file with errors changes nothing.',
    )
    .option('--dry-run', 'show what the file would change, and publish nothing')
    .option('--reason <text>')
    .addHelpText('after', examples('config reload --reason "new prices"', 'config reload --dry-run'))
    .action(
      adminCommand(context, async ({ client, output }, { dryRun, reason }: ReloadOptions) => {
        const published = await client.call('POST', '/config/reload', { dry_run: dryRun, reason });
        if (dryRun === true) output.item(published, withNodes(published));
        else showPublished(published, output, context);
      }),
    );

  addCatalogueCommand(config, context);
  addVersionCommands(config, context);
  addDraftCommands(
    config
      .command('draft')
      .description('Prepares configuration changes before they are published.')
      .addHelpText('after', examples('config draft diff')),
    context,
  );
}

function addCatalogueCommand(config: Command, context: CliContext): void {
  config
    .command('catalogue')
    .description(
      'Lists models that `config draft add` can add, with the channels that serve them and their prices.',
    )
    .addHelpText('after', examples('config catalogue'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/config/catalogue', {});
        output.rows(rows, { columns: ['id', 'kind', 'owned_by', 'channels', 'prices'], shown: shownModel });
      }),
    );
}

const catalogueModel = z.object({
  channels: z.array(z.object({ id: z.string() })),
  lines: z.array(
    z.object({ measure: z.string(), price: z.string(), when: z.record(z.string(), z.unknown()) }),
  ),
});

function shownModel(row: Row): Row {
  const { channels, lines } = catalogueModel.parse(row);
  const prices = lines.map(({ measure, price, when }) => {
    const conditions = Object.entries(when).map(([name, value]) => ` ${name}=${String(value)}`);
    return `${price}/${measure}${conditions.join('')}`;
  });
  return { ...row, channels: channels.map(({ id }) => id), prices };
}

function addVersionCommands(config: Command, context: CliContext): void {
  config
    .command('versions')
    .description('Lists the active version and all earlier versions, newest first.')
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
      'Publishes an earlier version again, under a new number. Exits with status 1 if a process cannot load it.',
    )
    .argument('<version>', 'the number of the version, as `config versions` lists it', parseCount)
    .option('--dry-run', 'show what would change, and publish nothing')
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
