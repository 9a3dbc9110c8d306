import type { Command } from 'commander';
import { marginDimensions } from '../money/margin.ts';
import { usageDimensions } from '../money/usage.ts';
import { lookCommand, type CliContext } from './context.ts';
import { writeAnswer } from './write-answer.ts';

const verbs = {
  usage: {
    about:
      'Shows the usage of accounts, as ledger totals by the day (UTC) of the hold. Takes a while if there are millions of entries.',
    dimensions: usageDimensions,
    by: 'day',
    numbers: ['tasks', 'settled', 'released', 'open', 'charged', 'refunded'],
  },
  margin: {
    about:
      'Shows charges minus refunds and upstream costs, as ledger totals by the day (UTC) on which tasks ended, lowest margin first.',
    dimensions: marginDimensions,
    by: 'model',
    numbers: ['tasks', 'charged', 'refunded', 'cost', 'cost_unknown', 'margin'],
  },
};

interface SumsOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
  readonly account?: string;
  readonly csv?: string;
}

export const addSums = (verb: keyof typeof verbs) => (command: Command, context: CliContext) => {
  const { about, dimensions, by, numbers } = verbs[verb];
  command
    .description(about)
    .option('--from <day>', 'the first day, such as 2026-11-01 (default: the first day of this month)')
    .option('--to <day>', 'the day after the last one (default: tomorrow)')
    .option('--by <names>', `one or more of ${dimensions.join(', ')}, comma-separated`, by);
  if (verb === 'usage') command.option('--account <id>');
  command.option('--csv <file>', 'write the totals to a file as CSV').action(
    lookCommand(context, async ({ client, output }, { csv: out, ...query }: SumsOptions) => {
      const path = `/${verb}`;
      if (out !== undefined) {
        const asked = { path, query: { ...query, format: 'csv' }, out };
        return writeAnswer({ client, output, print: context.print }, asked);
      }
      const { rows } = await client.list(path, { ...query });
      const names = query.by.split(',').filter((name) => name !== '');
      return output.rows(rows, { columns: [...names, ...numbers] });
    }),
  );
};
