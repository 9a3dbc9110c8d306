import type { Command } from 'commander';
import { z } from 'zod';
import { changeText } from '../base/config-change.ts';
import { parseJson } from '../base/parse-json.ts';
import type { AdminClient, Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, lookCommand, type CliContext } from './context.ts';
import { textOfFile } from './given-file.ts';
import { parseCount, parseDecimal, parseTime, parseWhole, timeMeaning } from './option-values.ts';
import type { Output } from './output.ts';
import { tryPrices } from './prices.ts';
import { examples, exitStatuses } from './program.js';
import { showPublished } from './published-config.ts';

interface SetOptions {
  readonly file?: string;
  readonly remove?: true;
  readonly revision?: number;
}

type SetLine = [pointer: string | undefined, text: string | undefined, options: SetOptions];

type InsertLine = [pointer: string, name: string | undefined, options: Pick<SetOptions, 'revision'>];

interface PublishOptions {
  readonly reason: string;
  readonly over?: number;
  readonly revision?: number;
}

const path = '/config/draft';
const changeSchema = z.object({
  path: z.string(),
  kind: z.enum(['added', 'removed', 'changed']),
  before: z.string().nullable(),
  after: z.string().nullable(),
});
const draftSchema = z.object({
  revision: z.int(),
  text: z.string(),
  changes: z.array(changeSchema),
  violations: z.array(z.object({ path: z.string(), message: z.string() })),
});

export function addDraftCommands(draft: Command, context: CliContext): void {
  addLooks(draft, context);
  addSet(draft, context);
  addInsert(draft, context);
  addCatalogueModel(draft, context);
  addEnds(draft, context);
}

function addSet(draft: Command, context: CliContext): void {
  draft
    .command('set')
    .description(
      'Changes the value at a JSON pointer in the draft, or replaces the whole text from a file. Vendor keys are sealed and never shown again.',
    )
    .argument('[pointer]', 'such as /models/clip-1/price/lines; refer to list entries by their ids')
    .argument('[value]', 'JSON or plain text; `-` reads it from standard input')
    .option('--file <file>', 'replace the whole draft with this gateway.yaml')
    .option('--remove', 'remove the value at the pointer')
    .option('--revision <n>', 'the revision that you have read; defaults to the newest', parseWhole)
    .addHelpText(
      'after',
      examples('config draft set /channels/main/priority 2', 'config draft set --file new.yaml'),
    )
    .action(
      adminCommand(context, async ({ client, output }, ...[pointer, text, options]: SetLine) => {
        const change = await changeOf(pointer, text, options);
        const revision = options.revision ?? (await read(client)).revision;
        showDraft(await client.call('PUT', path, { revision, ...change }), output);
      }),
    );
}

function addInsert(draft: Command, context: CliContext): void {
  draft
    .command('insert')
    .description(
      'Adds an element to a list or mapping of the draft, with its required lists and mappings. Set its fields with `set`.',
    )
    .argument('<pointer>', 'the list or mapping, such as /channels or /models/clip-1/price/lines')
    .argument('[name]', 'the id of the element, or its name; omit it for a list without ids')
    .option('--revision <n>', 'the revision that you have read; defaults to the newest', parseWhole)
    .addHelpText('after', examples('config draft insert /channels/main/credentials second'))
    .action(
      adminCommand(context, async ({ client, output }, ...[pointer, name, options]: InsertLine) => {
        const revision = options.revision ?? (await read(client)).revision;
        showDraft(await client.call('PUT', path, { revision, insert: { pointer, name } }), output);
      }),
    );
}

interface AddOptions {
  readonly channel: string;
  readonly key?: string;
  readonly baseUrl?: string;
  readonly markup?: number;
  readonly revision?: number;
}

function addCatalogueModel(draft: Command, context: CliContext): void {
  draft
    .command('add')
    .description(
      'Adds a model from the catalogue to the draft, with its facts and prices. See `config catalogue`.',
    )
    .argument('<model>')
    .requiredOption('--channel <id>', 'a channel in the draft, or one from the catalogue')
    .option(
      '--key <key>',
      'the vendor’s key, for a channel of the catalogue; `-` reads it from standard input',
    )
    .option('--base-url <url>', 'default: the base_url in the catalogue')
    .option(
      '--markup <percent>',
      'raises the catalogue’s prices by this percentage, such as 25',
      parseDecimal,
    )
    .option('--revision <n>', 'the revision that you have read; defaults to the newest', parseWhole)
    .addHelpText('after', examples('config draft add MODEL --channel CHANNEL --key -'))
    .action(
      adminCommand(context, async ({ client, output }, model: string, options: AddOptions) => {
        const { channel, key, baseUrl, markup } = options;
        const revision = options.revision ?? (await read(client)).revision;
        const api_key = key === '-' ? (await textOfFile('/dev/stdin')).trim() : key;
        const body = { revision, model, channel, api_key, base_url: baseUrl, markup_percent: markup };
        showDraft(await client.call('POST', `${path}/models`, body), output);
      }),
    );
}

function addEnds(draft: Command, context: CliContext): void {
  draft
    .command('publish')
    .description('Publishes the draft to all processes. Exits with status 1 if a process cannot load it.')
    .requiredOption('--reason <text>')
    .option(
      '--over <version>',
      'confirms that the draft replaces this version, which was published after the draft began',
      parseCount,
    )
    .option('--revision <n>', 'the revision that you have read; defaults to the newest', parseWhole)
    .addHelpText('after', examples('config draft publish --reason "new prices"'))
    .action(
      adminCommand(context, async ({ client, output }, options: PublishOptions) => {
        const revision = options.revision ?? (await read(client)).revision;
        const published = await client.call('POST', `${path}/publish`, { ...options, revision });
        showPublished(published, output, context);
      }),
    );
  draft
    .command('discard')
    .description('Discards the draft. The next change begins from the running configuration.')
    .option('--reason <text>')
    .addHelpText('after', examples('config draft discard'))
    .action(
      adminCommand(context, async ({ client, output }, { reason = '' }: { readonly reason?: string }) => {
        const { revision } = await read(client);
        const query = new URLSearchParams({ revision: String(revision), reason });
        output.result(await client.call('DELETE', `${path}?${query.toString()}`), 'The draft was discarded.');
      }),
    );
}

function addLooks(draft: Command, context: CliContext): void {
  draft
    .command('show')
    .description(
      'Prints the draft as YAML, ready to be saved as gateway.yaml. `-o json` prints its changes, errors and secrets as well.',
    )
    .addHelpText('after', examples('config draft show'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const shown = await client.call('GET', path);
        output.result(shown, draftSchema.parse(shown).text.trimEnd());
      }),
    );
  draft
    .command('diff')
    .description('Shows how the draft differs from the running configuration, and the draft’s errors.')
    .addHelpText('after', examples('config draft diff'))
    .action(
      lookCommand(context, async ({ client, output }) => showDraft(await client.call('GET', path), output)),
    );
  draft
    .command('test')
    .description(
      'Asks the upstream, free of charge, whether it accepts one of the draft’s credentials. Exits with status 1 if it does not, or cannot be asked.',
    )
    .argument('<channel>')
    .argument('<credential>')
    .addHelpText('after', examples('config draft test main first'))
    .action(
      adminCommand(context, async ({ client, output }, channel: string, credential: string) => {
        const answer = await client.call('POST', `${path}/credentials/try`, { channel, credential });
        output.result(answer, String(answer['words']));
        if (['refused', 'unclear'].includes(String(answer['verdict'])))
          context.fail(exitStatuses.failed.status);
      }),
    );
  draft
    .command('try')
    .description('Shows what recorded tasks would have been charged at the draft’s prices. Changes nothing.')
    .option('--since <time>', `tasks created since then: ${timeMeaning}`, parseTime)
    .addHelpText('after', examples('config draft try', 'config draft try --since 30d'))
    .action(
      adminCommand(context, async (session, { since = parseTime('7d') }: { readonly since?: number }) =>
        tryPrices(session, context, { since }),
      ),
    );
}

async function read(client: AdminClient) {
  return draftSchema.parse(await client.call('GET', path));
}

async function changeOf(
  pointer: string | undefined,
  given: string | undefined,
  { file, remove }: SetOptions,
): Promise<Row> {
  if (file !== undefined) return { text: await textOfFile(file) };
  if (pointer === undefined || (given === undefined) !== (remove === true))
    throw new CommandError('usage', 'Specify a JSON pointer with a value or --remove, or use --file.');
  const text = given === '-' ? (await textOfFile('/dev/stdin')).trimEnd() : given;
  return { set: { [pointer]: text === undefined ? null : (parseJson(text) ?? text) } };
}

function showDraft(draft: Row, output: Output): void {
  const { revision, changes, violations } = draftSchema.parse(draft);
  if (output.isJson) return output.item(draft);
  output.note(changes.length === 0 ? 'No changes.' : changes.map(changeText).join('\n'));
  for (const one of violations) output.note(`${one.path === '' ? '' : `${one.path}: `}${one.message}`);
  output.note(`Revision ${revision}.`);
}
