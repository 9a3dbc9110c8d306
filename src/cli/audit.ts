import type { Command } from 'commander';
import { lookCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';
import { parseTime, timeMeaning } from './option-values.ts';

const table = {
  columns: ['at', 'by', 'action', 'target', 'outcome', 'reason'],
  more: ['via', 'address', 'what', 'result', 'ended_at', 'id'],
};

interface AuditOptions {
  readonly since?: number;
  readonly by?: string;
  readonly task?: string;
  readonly limit?: string;
  readonly after?: string;
}

export function addAuditCommands(audit: Command, context: CliContext): void {
  audit
    .description(
      'What operators did, newest first; with -o json where from, what exactly, and why it was refused.',
    )
    .option('--since <time>', timeMeaning, parseTime)
    .option('--by <name>', 'an operator, or temporal:NAME')
    .option('--task <id>')
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
