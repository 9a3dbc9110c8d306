import type { Command } from 'commander';
import { namespacePollsDefault, pollsOfWorker } from '../domain/poller-budget.ts';
import { adminCommand, outputOf } from './context.ts';
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
      const { channels, models, currency, version } = loaded;
      const polls = pollsOfWorker(channels.length);
      outputOf(command, context).item({
        file,
        version,
        currency,
        channels: channels.map(({ id }) => id),
        models: models.map(({ id }) => id),
        polls_per_worker: polls,
        temporal: `frontend.namespaceCount, ${namespacePollsDefault} unless set, must be at least the polls of all worker processes together`,
      });
    });

  config
    .command('reload')
    .description(
      'Makes a running node reload its file; a bad file leaves the running configuration in force.',
    )
    .addHelpText('after', examples('config reload'))
    .action(
      adminCommand(context, async ({ client, output }) => {
        output.item(await client.call('POST', '/config/reload'));
      }),
    );
}
