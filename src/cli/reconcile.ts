import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { defined } from '../base/defined.ts';
import type { BillFormat } from '../providers/provider.ts';
import { CommandError } from './command-error.ts';
import { adminCommand } from './context.ts';
import type { CliContext } from './context.ts';
import { parseTime, timeMeaning } from './option-values.ts';
import { examples, exitStatuses } from './program.js';

interface ReconcileOptions {
  readonly bill: string;
  readonly format: string;
  readonly channel: readonly string[];
  readonly from?: number;
  readonly to?: number;
  readonly column?: Readonly<Record<string, string>>;
  readonly unit?: string;
  readonly model?: ReadonlyMap<string, string>;
  readonly csv?: string;
}

const mapped = 'mapped';
const columnNames = ['job', 'amount', 'at', 'model', 'unit'];

export function addReconcileCommand(reconcile: Command, context: CliContext): void {
  reconcile
    .description(
      'Compares an upstream’s bill, line by line, with what is recorded of its jobs: what matches, what only one side has, whose amount differs. A job that no task has is proposed to the attempts that it may belong to. Changes nothing. Exits with status 1 unless all matches.',
    )
    .addHelpText(
      'after',
      examples(
        'reconcile --bill october.csv --format mapped --channel main --unit USD --column job=id --column amount=cost --column at=time',
        'reconcile --bill october.csv --format FORMAT --channel main --from 2026-10-01 --to 2026-11-01 --csv report.csv',
      ),
    )
    .requiredOption('--bill <file>', 'CSV in UTF-8, its first line a header')
    .requiredOption('--format <name>', `of the vendor, by the name of its provider; or ${mapped}`)
    .requiredOption('--channel <id>', 'one that the bill is of; several: once for each', collect)
    .option('--from <time>', `default: the first day (UTC) of the bill; ${timeMeaning}`, parseTime)
    .option('--to <time>', 'default: the end of its last day', parseTime)
    .option(
      '--column <field=name>',
      `the column of ${columnNames.join(', ')}; job, model and unit may be absent`,
      parseColumn,
    )
    .option(
      '--model <name=model>',
      'of a bill that names no jobs: what it calls a model, and what the vendor’s API does',
      parseModel,
    )
    .option('--unit <unit>', 'of amounts, such as USD, where no column says it')
    .option('--csv <file>', 'every row, written as CSV into a file')
    .action(
      adminCommand(context, async (session, options: ReconcileOptions, command: Command) => {
        const format = await formatOf(options, context);
        const { from, to, bill, csv, model: models = new Map() } = options;
        if (from !== undefined && to !== undefined && from >= to)
          throw new CommandError('usage', '--from must be before --to.');
        const { runReconciliation } = await import('./bill/run.ts');
        const isStreamed = command.optsWithGlobals()['output'] === 'jsonl';
        const channels = [...new Set(options.channel)];
        const asked = { bill, format, channels, models, isStreamed, ...defined({ from, to, csv }) };
        if (!(await runReconciliation(asked, session))) context.fail(exitStatuses.failed.status);
      }),
    );
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function parseColumn(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, field = '', name = ''] = /^([a-z]+)=(.+)$/.exec(text) ?? [];
  if (!columnNames.includes(field))
    throw new InvalidArgumentError(`It must be such as amount=cost, with one of ${columnNames.join(', ')}.`);
  return { ...before, [field]: name };
}

function parseModel(
  text: string,
  before: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const [, name = '', model = ''] = /^(.+)=([^=]+)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must be such as "Clip 1, output=clip-1".');
  return new Map([...before, [name, model]]);
}

/** What the line says counts more than what the vendor's adapter knows. */
async function formatOf(
  { format, column = {}, unit }: ReconcileOptions,
  { loadProviders }: CliContext,
): Promise<BillFormat> {
  const providers = await loadProviders();
  const formats = Object.entries(providers).flatMap(([name, { bill }]) =>
    bill === undefined ? [] : [[name, bill] as const],
  );
  const known = new Map<string, Partial<BillFormat>>([...formats, [mapped, {}]]);
  const found = known.get(format);
  if (found === undefined)
    throw new CommandError(
      'usage',
      `There is no format ${format}; there are ${[...known.keys()].join(', ')}.`,
    );
  const { amount, at, ...others } = { ...found.columns, ...column };
  if (amount === undefined || at === undefined)
    throw new CommandError('usage', 'Which columns? --column amount=NAME and --column at=NAME are missing.');
  return {
    source: '',
    ...found,
    columns: { ...others, amount, at },
    ...defined({ unit: unit ?? found.unit }),
  };
}
