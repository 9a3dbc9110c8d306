import type { Command } from 'commander';
import { marginDimensions } from '../domain/margin.ts';
import { lookCommand } from './context.ts';
import type { CliContext } from './context.ts';
import { writeAnswer } from './write-answer.ts';

const numbers = ['tasks', 'charged', 'refunded', 'cost', 'cost_unknown', 'margin'];

interface MarginOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
  readonly csv?: string;
}

export function addMarginCommand(margin: Command, context: CliContext): void {
  margin
    .description(
      'What tasks earned, less what they cost upstream: sums of the ledger, by the day (UTC) on which a task ended; the lowest margin first.',
    )
    .option('--from <day>', 'the first day, such as 2026-11-01 (default: that of this month)')
    .option('--to <day>', 'the day after the last one (default: tomorrow)')
    .option('--by <names>', `some of ${marginDimensions.join(', ')}, with commas between`, 'model')
    .option('--csv <file>', 'written as CSV into a file')
    .action(
      lookCommand(context, async ({ client, output }, { csv: out, ...query }: MarginOptions) => {
        if (out !== undefined) {
          const asked = { path: '/margin', query: { ...query, format: 'csv' }, out };
          return writeAnswer({ client, output, print: context.print }, asked);
        }
        const { rows } = await client.list('/margin', { ...query });
        const by = query.by.split(',').filter((name) => name !== '');
        return output.rows(rows, { columns: [...by, ...numbers] });
      }),
    );
}
