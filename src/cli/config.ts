import type { Command } from 'commander';
import { openSession, outputOf } from './context.ts';
import type { CliContext } from './context.ts';

export function addConfigCommands(program: Command, context: CliContext): void {
  const config = program.command('config').description('The configuration.');

  config
    .command('check')
    .description(
      'Checks the environment and GATEWAY_CONFIG, and nothing else. Status 78: something is wrong.',
    )
    .action((_options: object, command: Command) => {
      const { GATEWAY_CONFIG } = context.environment();
      const { channels, models, currency, version } = context.loadConfig();
      outputOf(command, context).item({
        file: GATEWAY_CONFIG,
        version,
        currency,
        channels: channels.map(({ id }) => id),
        models: models.map(({ id }) => id),
      });
    });

  config
    .command('reload')
    .description('Makes a running node load its file again; a bad file leaves the running one in force.')
    .action(async (_options: object, command: Command) => {
      const { client, output } = await openSession(command, context);
      output.item(await client.call('POST', '/config/reload'));
    });
}
