import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { lookCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';

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
    .option(
      '--since <time>',
      'a time (2026-11-22, 2026-11-22T14:00:00Z) or how long ago (90m, 24h, 7d)',
      parseSince,
    )
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

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Unix seconds. */
function parseSince(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const now = Math.floor(Date.now() / 1000);
  if (count !== '') return now - Number(count) * (unitSeconds[unit] ?? 1);
  const at = /^\d{4}-\d\d-\d\d(?:T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a date, a time, or 90m, 24h or 7d.');
  return Math.floor(at / 1000);
}
