import type { Command } from 'commander';
import { lookCommand, noteMore, type CliContext } from './context.ts';
import { parseTime, timeMeaning } from './option-values.ts';

const table = {
  columns: ['at', 'by', 'action', 'target', 'outcome', 'reason'],
  more: ['via', 'address', 'what', 'result', 'ended_at', 'id'],
};

interface AuditOptions {
  readonly since?: number;
  readonly by?: string;
  readonly task?: string;
  readonly target?: string;
  readonly limit?: string;
  readonly after?: string;
}

export function addAuditCommands(audit: Command, context: CliContext): void {
  audit
    .description(
      'Lists what operators did, newest first. -o json adds the IP address, the exact request and the reason for a rejection.',
    )
    .option('--since <time>', timeMeaning, parseTime)
    .option('--by <name>', 'an operator, or temporal:NAME')
    .option('--task <id>')
    .option('--target <id>', 'an account, a key, a channel or an operator')
    .option('--limit <n>')
    .option('--after <id>')
    .action(
      lookCommand(context, async ({ client, output }, { since, ...options }: AuditOptions) => {
        const { rows, hasMore } = await client.list('/audit', { ...options, since: since?.toString() });
        output.rows(rows, table);
        noteMore(output, hasMore, rows.at(-1)?.['id']);
      }),
    );
}
