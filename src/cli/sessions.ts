import type { Command } from 'commander';
import { adminCommand, lookCommand, type CliContext } from './context.ts';
import { examples } from './program.js';

const table = {
  columns: ['id', 'operator', 'created_at', 'last_used_at', 'expires_at', 'address', 'browser'],
};

interface EndAllOptions {
  readonly operator: string;
  readonly reason?: string;
}

export function addSessionCommands(sessions: Command, context: CliContext): void {
  sessions
    .command('list')
    .description(
      'Lists your console sessions, newest first. If you have the `access` role, lists all console sessions.',
    )
    .addHelpText('after', examples('sessions list'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/sessions', {});
        output.rows(rows, table);
      }),
    );

  sessions
    .command('end')
    .description('Ends a console session. Every node rejects its next request.')
    .addHelpText('after', examples('sessions end ses_… --reason "lost laptop"'))
    .argument('<id>', 'ses_…')
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, id: string, { reason = '' }: { reason?: string }) => {
        const query = new URLSearchParams({ reason }).toString();
        output.item(await client.call('DELETE', `/sessions/${encodeURIComponent(id)}?${query}`));
      }),
    );

  sessions
    .command('end-all')
    .description('Ends all console sessions of one operator, or of all operators.')
    .addHelpText(
      'after',
      examples('sessions end-all --operator anna --reason "left us"', "sessions end-all --operator '*'"),
    )
    .requiredOption('--operator <name>', "the operator, or '*' for all operators")
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, options: EndAllOptions) => {
        const query = new URLSearchParams({ ...options }).toString();
        output.item(await client.call('DELETE', `/sessions?${query}`));
      }),
    );
}
