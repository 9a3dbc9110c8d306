import type { Command } from 'commander';
import { openSession } from './context.ts';
import type { CliContext } from './context.ts';

const columns = ['id', 'provider', 'enabled', 'priority', 'weight', 'models', 'credentials', 'health'];

export function addChannelCommands(program: Command, context: CliContext): void {
  const channels = program.command('channels').description('Channels of the running configuration.');

  channels.command('list').action(async (_options: object, command: Command) => {
    const { client, output } = await openSession(command, context);
    const { rows } = await client.list('/channels', {});
    output.rows(rows, columns);
  });

  const switches = [
    ['enable', 'Leaves the decision to the configuration file again.', true],
    ['disable', 'Takes the channel out of service for new tasks, on every node within seconds.', false],
  ] as const;
  for (const [name, description, enabled] of switches) {
    channels
      .command(name)
      .description(description)
      .argument('<id>')
      .option('--reason <text>')
      .action(async (id: string, { reason }: { reason?: string }, command: Command) => {
        const { client, output } = await openSession(command, context);
        output.item(await client.call('POST', `/channels/${encodeURIComponent(id)}`, { enabled, reason }));
      });
  }
}
