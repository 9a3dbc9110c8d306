import type { Command } from 'commander';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, lookCommand, type CliContext } from './context.ts';
import { healthColumns, healthInTables } from './health.ts';
import type { Output } from './output.ts';
import { parseCount } from './option-values.ts';
import { examples } from './program.js';

const columns = ['id', 'state', 'since', 'until', 'waiting', 'health'];
const more = ['provider', 'models', 'credentials', 'enabled', 'priority', 'weight'];

type CircuitLine = [string, string, { model?: string; seconds?: number; reason: string }];

export function addChannelCommands(channels: Command, context: CliContext): void {
  addLooks(channels, context);
  addSwitches(channels, context);
  addCircuits(channels, context);
}

function addLooks(channels: Command, context: CliContext): void {
  channels
    .command('list')
    .description('Lists the channels of the running configuration.')
    .addHelpText('after', examples('channels list'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/channels', {});
        const shown = ({ health, ...row }: Row): Row => ({ ...row, ...healthColumns(health) });
        output.rows(rows, { columns, more, shown });
      }),
    );

  channels
    .command('show')
    .description('Shows a channel, its circuits, and when and why they opened, newest last.')
    .addHelpText('after', examples('channels show main'))
    .argument('<id>')
    .action(
      lookCommand(context, async ({ client, output }, id: string) => {
        const { rows } = await client.list('/channels', {});
        const channel = rows.find((row) => row['id'] === id);
        if (channel === undefined) throw new CommandError('not_found', `There is no channel ${id}.`);
        showChannel(channel, output);
      }),
    );
}

function addSwitches(channels: Command, context: CliContext): void {
  const switches = [
    ['enable', 'Undoes `disable`, so that the channel follows the configuration file again.', true],
    ['disable', 'Takes the channel out of service for new tasks, on every node within seconds.', false],
  ] as const;
  for (const [name, description, enabled] of switches) {
    channels
      .command(name)
      .description(description)
      .addHelpText('after', examples(`channels ${name} main --reason "price change"`))
      .argument('<id>')
      .option('--reason <text>')
      .action(
        adminCommand(context, async ({ client, output }, id: string, { reason }: { reason?: string }) => {
          const path = `/channels/${encodeURIComponent(id)}`;
          showChannel(await client.call('POST', path, { enabled, reason }), output);
        }),
      );
  }
}

function addCircuits(channels: Command, context: CliContext): void {
  const circuits = [
    ['open-circuit', 'Stops submissions to a credential, or to one of its models.', 'open'],
    ['close-circuit', 'Resumes submissions immediately, regardless of earlier failures.', 'closed'],
  ] as const;
  for (const [name, description, state] of circuits) {
    const command = channels
      .command(name)
      .description(description)
      .addHelpText('after', examples(`channels ${name} main a --reason "they asked us to"`))
      .argument('<channel>')
      .argument('<credential>')
      .option('--model <id>', 'default: the whole credential')
      .requiredOption('--reason <text>');
    if (state === 'open')
      command.option(
        '--seconds <n>',
        'how long the circuit stays open before one request is let through (default: until it is closed)',
        parseCount,
      );
    command.action(
      adminCommand(context, async ({ client, output }, ...[channel, credential, options]: CircuitLine) => {
        const path = `/channels/${encodeURIComponent(channel)}/circuits`;
        showChannel(await client.call('POST', path, { credential, state, ...options }), output);
      }),
    );
  }
}

function showChannel(channel: Row, output: Output): void {
  const { health, ...facts } = channel;
  output.item(channel, { ...facts, ...healthInTables(health) });
}
