import type { Command } from 'commander';
import { adminCommand } from './context.ts';
import type { CliContext } from './context.ts';

const columns = ['id', 'provider', 'enabled', 'priority', 'weight', 'models', 'credentials', 'health'];

export function addChannelCommands(channels: Command, context: CliContext): void {
  channels.command('list').action(
    adminCommand(context, async ({ client, output }) => {
      const { rows } = await client.list('/channels', {});
      output.rows(rows, columns);
    }),
  );

  const switches = [
    ['enable', 'Returns the decision to the configuration file.', true],
    ['disable', 'Takes the channel out of service for new tasks, on every node within seconds.', false],
  ] as const;
  for (const [name, description, enabled] of switches) {
    channels
      .command(name)
      .description(description)
      .argument('<id>')
      .option('--reason <text>')
      .action(
        adminCommand(context, async ({ client, output }, id: string, { reason }: { reason?: string }) => {
          output.item(await client.call('POST', `/channels/${encodeURIComponent(id)}`, { enabled, reason }));
        }),
      );
  }
}
