import type { Command } from 'commander';
import { usageDimensions } from '../domain/usage.ts';
import { lookCommand } from './context.ts';
import type { CliContext } from './context.ts';
import { writeAnswer } from './write-answer.ts';

const numbers = ['tasks', 'settled', 'released', 'open', 'charged', 'refunded'];

interface UsageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
  readonly account?: string;
  readonly csv?: string;
}

export function addUsageCommand(usage: Command, context: CliContext): void {
  usage
    .description(
      'What accounts have used: sums of the ledger, by the day (UTC) on which a task was held. It takes some time where there are millions of entries.',
    )
    .option('--from <day>', 'the first day, such as 2026-11-01 (default: that of this month)')
    .option('--to <day>', 'the day after the last one (default: tomorrow)')
    .option('--by <names>', `some of ${usageDimensions.join(', ')}, with commas between`, 'day')
    .option('--account <id>')
    .option('--csv <file>', 'written as CSV into a file')
    .action(
      lookCommand(context, async ({ client, output }, { csv: out, ...query }: UsageOptions) => {
        if (out !== undefined) {
          const asked = { path: '/usage', query: { ...query, format: 'csv' }, out };
          return writeAnswer({ client, output, print: context.print }, asked);
        }
        const { rows } = await client.list('/usage', { ...query });
        const by = query.by.split(',').filter((name) => name !== '');
        return output.rows(rows, { columns: [...by, ...numbers] });
      }),
    );
}
