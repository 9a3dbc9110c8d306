import type { Command } from 'commander';
import { CommandError } from './command-error.ts';
import { lookCommand, type CliContext } from './context.ts';
import type { Explained, Reckoning } from './explained-price.ts';
import type { Output } from './output.ts';
import { textOfFile } from './given-file.ts';
import { examples } from './program.js';
import { parseFields } from './route.ts';

interface ExplainOptions {
  readonly request?: string;
  readonly file?: string;
  readonly key?: string;
}

const idPattern = /^(?:task|img)_/;

export function addPriceCommands(price: Command, context: CliContext): void {
  price
    .command('explain')
    .description(
      'Explains the hold and charge of a request or task: the facts, each price line and each step. Creates nothing.',
    )
    .addHelpText(
      'after',
      examples(
        'price explain clip-1 --request \'{"resolution":"1080p","duration":-1}\'',
        'price explain --file request.json --key key_…',
        'price explain task_…',
      ),
    )
    .argument('[model or id]', 'a model, or the id of a task or of images')
    .option('--request <json>', 'more fields for the create request, such as \'{"resolution":"1080p"}\'')
    .option('--file <path>', 'the body of a create request; options on the command line override it')
    .option('--key <id>', 'use the permissions of this key')
    .action(
      lookCommand(context, async ({ client, output }, named: string | undefined, options: ExplainOptions) => {
        const answer =
          named !== undefined && idPattern.test(named)
            ? await client.call('GET', `/tasks/${encodeURIComponent(named)}/price`)
            : await client.call('POST', '/prices/explain', {
                request: await requestOf(named, options),
                key: options.key,
              });
        if (output.isJson) return output.item(answer);
        const { explainedSchema } = await import('./explained-price.ts');
        show(explainedSchema.parse(answer), output);
      }),
    );
}

async function requestOf(model: string | undefined, { request, file }: ExplainOptions): Promise<object> {
  const fields = {
    ...(file === undefined ? {} : parseFields(await textOfFile(file), file)),
    ...(model === undefined ? {} : { model }),
    ...parseFields(request ?? '{}'),
  };
  if ('model' in fields) return fields;
  throw new CommandError(
    'usage',
    'Specify a model or a task, or a --file with a request that contains a model.',
  );
}

function show(explained: Explained, output: Output): void {
  const { currency } = explained;
  if ('task' in explained) {
    const { task, hold, charge, refunded, note } = explained;
    output.note(`${task}: ${note}`);
    showPart('hold', { currency, part: hold }, output);
    showPart('charge', { currency, part: charge }, output);
    if (refunded !== '0.000000') output.note(`refunded ${refunded} ${currency}`);
    return;
  }
  const { hold, usual, channels, dropped } = explained;
  showPart('hold', { currency, part: { amount: hold.amount, how: hold } }, output);
  const part = { amount: usual.amount, how: usual };
  showPart('usual charge', { currency, part, open: 'the usual' }, output);
  const rendered = channels.map(({ channel, dearest, rules_of: of }) => ({
    channel,
    'at most': dearest,
    price: `of the ${of}`,
  }));
  const left = dropped.map(({ channel, reason, detail }) => ({ channel, price: `${reason}: ${detail}` }));
  output.rows([...rendered, ...left], { columns: ['channel', 'at most', 'price'] });
}

interface Part {
  readonly currency: string;
  readonly part: { readonly amount: string; readonly how: Reckoning | null } | null;
  /** The value assumed for a parameter that the request does not specify. A hold assumes the most expensive value. */
  readonly open?: string;
}

function showPart(name: string, { currency, part, open = 'the most expensive' }: Part, output: Output): void {
  if (part === null) return output.note(`${name}: none`);
  output.note(`${name}: ${part.amount} ${currency}`);
  for (const line of part.how === null ? [] : linesOf(part.how, open)) output.note(`  ${line}`);
}

const sourceWords = {
  request: 'as requested',
  default: 'the model’s default',
  upstream: 'the upstream’s report',
  measured: 'measured by the gateway',
  formula: 'the formula of the adapter',
  assumed: 'assumed, because it is unknown',
};

function linesOf({ channel, rules_of: of, facts, seconds, lines, steps }: Reckoning, open: string): string[] {
  const wordsOf = (source: keyof typeof sourceWords | 'open'): string =>
    source === 'open' ? `left open: ${open}` : sourceWords[source];
  const where = `on channel ${channel}`;
  return [
    lines.length === 0 ? `no price line was applied ${where}` : `by the price of the ${of} ${where}`,
    ...facts.map(({ name, value, source }) => `${name} ${String(value)} (${wordsOf(source)})`),
    ...(seconds === undefined ? [] : [`for an output of ${seconds} seconds`]),
    ...lines.map(({ index, when, source, of: about, text, amount }) => {
      const tests = Object.keys(when).length === 0 ? '' : `, when ${JSON.stringify(when)}`;
      const images = about === undefined ? '' : `, images of ${JSON.stringify(about)}`;
      return `+ ${amount}   line ${index + 1}${tests}${images}: ${text} (${wordsOf(source)})`;
    }),
    ...steps.map(({ text, amount }) => `= ${amount}   ${text}`),
  ];
}
