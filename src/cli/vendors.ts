import type { Command } from 'commander';
import { defined } from '../base/defined.ts';
import { sizesInWords } from '../base/image-sizes.ts';
import { servedFacts, type FactsOrigin, type FactsTable } from '../models/facts-table.ts';
import type { ModelFacts } from '../models/model-facts.ts';
import type { Provider, TaskProvider } from '../providers/provider.ts';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { outputOf, type CliContext } from './context.ts';
import type { Output } from './output.ts';
import { examples } from './program.js';
import { addVendorTest } from './vendor-test.ts';
import { addVendorCheck } from './vendors-check.ts';

export function addVendorCommands(vendors: Command, context: CliContext): void {
  addVendorShow(vendors, context);
  addVendorCheck(vendors, context);
  addVendorTest(vendors, context);
}

/** Needs neither a gateway nor a configuration, because the facts are part of the program. */
function addVendorShow(vendors: Command, context: CliContext): void {
  vendors
    .command('show')
    .description(
      'Shows the adapters’ facts about all vendors, about the models of one vendor, or about one model.',
    )
    .addHelpText('after', examples('vendors show', 'vendors show VENDOR --model MODEL'))
    .argument('[vendor]', 'as `provider` in gateway.yaml')
    .option('--model <name>', 'the vendor’s name for the model')
    .action(async (vendor: string | undefined, { model }: { model?: string }, command: Command) => {
      const providers = await context.loadProviders();
      const output = outputOf(command, context);
      if (vendor === undefined) {
        if (model !== undefined)
          throw new CommandError(
            'usage',
            'Specify the vendor as well: gateway vendors show <vendor> --model …',
          );
        const rows = Object.entries(providers).map(([name, provider]) => ({
          vendor: name,
          ...abilities(provider),
        }));
        output.rows(rows, {
          columns: ['vendor', 'videos', 'images', 'cancel', 'list', 'callback', 'link_seconds'],
        });
        return;
      }
      const provider = Object.hasOwn(providers, vendor) ? providers[vendor] : undefined;
      if (provider === undefined)
        throw new CommandError(
          'not_found',
          `There is no vendor ${vendor}. The vendors are ${Object.keys(providers).join(', ')}.`,
        );
      if (model === undefined) showVendor(vendor, provider, output);
      else output.item({ vendor, model, facts: factsOf(vendor, provider, model) });
    });
}

function abilities({ video, image, imageTask }: Provider): Row {
  const task: Omit<TaskProvider<never>, 'submit'> | undefined = video ?? imageTask;
  return defined({
    videos: video === undefined ? 'no' : 'yes',
    images: imageTask === undefined ? (image === undefined ? 'no' : 'at once') : 'as a task',
    cancel: task === undefined ? undefined : task.cancelUntil,
    list: task?.list === undefined ? undefined : (task.listMax ?? 'any number'),
    callback: task?.parseCallback === undefined ? 'no' : 'yes',
    link_seconds: task?.linkLifeSeconds,
  });
}

function showVendor(vendor: string, provider: Provider, output: Output): void {
  const { videos, images } = tablesOf(provider);
  const [models, imageModels] = [rowsOf(videos), rowsOf(images)];
  if (output.isJson || models.length + imageModels.length === 0) {
    const { bill } = provider;
    output.item({ vendor, ...abilities(provider), models, image_models: imageModels, ...defined({ bill }) });
    return;
  }
  const summaries = (rows: typeof models): Row[] => rows.map(summary);
  if (models.length > 0) output.rows(summaries(models), { columns: videoColumns, more });
  if (imageModels.length > 0) output.rows(summaries(imageModels), { columns: imageColumns, more });
  if (provider.bill !== undefined) output.note(`Its bill: ${provider.bill.source}.`);
}

interface Tables {
  readonly videos: FactsTable | undefined;
  readonly images: FactsTable | undefined;
}

function tablesOf({ video, image, imageTask }: Provider): Tables {
  const [videos, images] = [video, image ?? imageTask].map((part) =>
    typeof part?.facts === 'function' ? undefined : part?.facts,
  );
  return { videos, images };
}

interface ShownRow {
  readonly model: string;
  readonly facts: ModelFacts;
  readonly origin: FactsOrigin;
}

function rowsOf(table: FactsTable | undefined): ShownRow[] {
  if (table === undefined) return [];
  const { origin, others } = table;
  const known = table.models.map(([name, facts, own]) => ({
    model: name.source,
    facts,
    origin: own ?? origin,
  }));
  return [...known, { model: 'others', facts: others, origin }];
}

const videoColumns = [
  'model',
  'frames',
  'references',
  'videos',
  'audios',
  'resolutions',
  'ratios',
  'seconds',
  'sound',
];
const more = ['source', 'read'];
const imageColumns = ['model', 'images', 'references', 'mask', 'sizes', 'qualities', 'parameters'];

function summary({ model, facts, origin }: ShownRow): Row {
  const { media, resolutions, ratios, seconds, sound, images, sizes, qualities, parameters } = facts;
  const { frames, references = facts.references?.max, videos, audios } = media ?? {};
  const { only, min, max } = seconds ?? {};
  const length =
    only?.join(', ') ?? (min === undefined && max === undefined ? undefined : `${min ?? 0}-${max ?? ''}`);
  const asked = {
    images: images?.only?.join(', ') ?? images?.max,
    mask: facts.references?.mask,
    sizes: sizes === undefined ? undefined : sizesInWords(sizes),
    qualities,
    parameters: parameters === undefined ? undefined : Object.keys(parameters),
  };
  const shape = { frames, references, videos, audios, resolutions, ratios, seconds: length, sound };
  return { model, ...shape, ...asked, ...origin };
}

/** A model that is in none of the tables is assumed to be a video model if the vendor offers videos. */
function factsOf(vendor: string, provider: Provider, model: string): ModelFacts {
  const { videos, images } = tablesOf(provider);
  const isListed = (table: FactsTable | undefined): boolean =>
    table?.models.some(([name]) => name.test(model)) === true;
  const table = isListed(images) && !isListed(videos) ? images : (videos ?? images);
  if (table === undefined)
    throw new CommandError('not_found', `The adapter ${vendor} has no table of models.`);
  return servedFacts(table, { upstream: model });
}
