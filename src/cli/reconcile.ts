import { InvalidArgumentError, type Command } from 'commander';
import { defined } from '../base/defined.ts';
import type { BillFormat } from '../providers/provider.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, type CliContext } from './context.ts';
import { parseTime, timeMeaning } from './option-values.ts';
import { exitStatuses } from './program.js';

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
      'Compares an upstream’s bill, line by line, with the records of its jobs. Shows matches, jobs that exist on only one side, and different amounts. For a job without a task, proposes attempts that may have created it. Changes nothing. Exits with status 1 unless everything matches.',
    )
    .requiredOption('--bill <file>', 'CSV in UTF-8 with a header line')
    .requiredOption('--format <name>', `the name of the vendor’s provider, or ${mapped}`)
    .requiredOption('--channel <id>', 'a channel that the bill covers; may be repeated', collect)
    .option('--from <time>', `default: the first day (UTC) of the bill; ${timeMeaning}`, parseTime)
    .option('--to <time>', 'default: the end of the bill’s last day', parseTime)
    .option(
      '--column <field=name>',
      `the column of ${columnNames.join(', ')}; job, model and unit may be absent`,
      parseColumn,
    )
    .option(
      '--model <name=model>',
      'for a bill without job ids: a model’s name in the bill and its name in the vendor’s API',
      parseModel,
    )
    .option('--unit <unit>', 'the unit of amounts, such as USD, if no column states it')
    .option('--csv <file>', 'write every row to a file as CSV')
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
    throw new InvalidArgumentError(
      `It must look like amount=cost, with one of ${columnNames.join(', ')} on the left.`,
    );
  return { ...before, [field]: name };
}

function parseModel(
  text: string,
  before: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const [, name = '', model = ''] = /^(.+)=([^=]+)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must look like "Clip 1, output=clip-1".');
  return new Map([...before, [name, model]]);
}

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
      `There is no format ${format}. The formats are ${[...known.keys()].join(', ')}.`,
    );
  const { amount, at, ...others } = { ...found.columns, ...column };
  if (amount === undefined || at === undefined)
    throw new CommandError(
      'usage',
      'The columns are not known. Set them with --column amount=NAME and --column at=NAME.',
    );
  return {
    source: '',
    ...found,
    columns: { ...others, amount, at },
    ...defined({ unit: unit ?? found.unit }),
  };
}
