import type { Command } from 'commander';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, type CliContext, type Session } from './context.ts';
import { textOfFile } from './given-file.ts';
import { parseTime, timeMeaning } from './option-values.ts';
import type { Output } from './output.ts';
import { examples } from './program.js';
import type { TriedPrices } from './tried-prices.ts';

interface TryOptions {
  readonly since: number;
  readonly account?: string;
  readonly model?: string;
}

export function addPricesCommands(prices: Command, context: CliContext): void {
  prices
    .command('try')
    .description(
      'Shows what recorded tasks would have been charged and earned at another gateway.yaml’s prices, and who would pay more. Changes nothing.',
    )
    .addHelpText(
      'after',
      examples(
        'prices try new.yaml --since 7d',
        'prices try new.yaml --since 30d --account acme --model clip-1',
      ),
    )
    .argument('<file>', 'a gateway.yaml; only its prices leave this machine')
    .requiredOption('--since <time>', `tasks created since then: ${timeMeaning}`, parseTime)
    .option('--account <id>')
    .option('--model <id>')
    .action(
      adminCommand(context, async (session, file: string, options: TryOptions) => {
        const { readPrices } = await import('./tried-prices.ts');
        const sold = readPrices(await textOfFile(file));
        if (sold === undefined)
          throw new CommandError('usage', `${file} is not a gateway.yaml: its models have no prices.`);
        await tryPrices(session, context, { ...sold, ...options });
      }),
    );
}

export async function tryPrices(
  { client, output }: Session,
  { terminal }: CliContext,
  asked: Row,
): Promise<void> {
  const { triedSchema } = await import('./tried-prices.ts');
  const answer = await client.follow(
    '/prices/try',
    (progress) => terminal?.progress(`${String(progress['tasks'])} tasks…`),
    asked,
  );
  terminal?.progress('');
  if (output.isJson) output.item(answer);
  else show(triedSchema.parse(answer), output);
}

function show(tried: TriedPrices, output: Output): void {
  const columns = [
    'tasks',
    'before',
    'after',
    'difference',
    'margin_before',
    'margin_after',
    'cost_unknown',
    'unpriced',
  ];
  output.rows(tried.by_model, { columns: ['model', ...columns] });
  output.rows(
    tried.by_account.map(({ account, ...sums }) => ({ account: account ?? 'others', ...sums })),
    { columns: ['account', ...columns] },
  );
  for (const { task, why } of tried.unpriced_tasks) output.note(`${task} cannot be priced: ${why}.`);
  output.note(
    `${tried.tasks} tasks: ${tried.before} before, ${tried.after} after, a difference of ${tried.difference}; ${tried.unpriced} cannot be priced.`,
  );
  output.note(
    `After upstream costs of ${tried.cost}: ${tried.margin_before} before, ${tried.margin_after} after.${unknownCosts(tried)}`,
  );
}

function unknownCosts({ cost_unknown: unknown }: TriedPrices): string {
  return unknown === 0 ? '' : ` Attempts of unknown cost: ${unknown}, so the margin is at most this.`;
}
