import type { Command } from 'commander';
import { defined } from '../domain/defined.ts';
import { servedFacts } from '../domain/model-facts.ts';
import type { VideoFacts } from '../domain/model-facts.ts';
import type { Provider, TaskProvider } from '../providers/provider.ts';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { outputOf } from './context.ts';
import type { CliContext } from './context.ts';
import type { Output } from './output.ts';

/** Needs no gateway and no configuration: what is shown is part of the program. */
export function addVendorCommands(vendors: Command, context: CliContext): void {
  vendors
    .command('show')
    .description('What the adapters know: of all vendors, of the video models of one, or of one model.')
    .argument('[vendor]', 'as `provider` in gateway.yaml')
    .option('--model <name>', 'the vendor’s name of it')
    .action(async (vendor: string | undefined, { model }: { model?: string }, command: Command) => {
      const providers = await context.loadProviders();
      const output = outputOf(command, context);
      if (vendor === undefined) {
        if (model !== undefined)
          throw new CommandError('Of which vendor? gateway vendors show <vendor> --model …');
        const rows = Object.entries(providers).map(([name, provider]) => ({
          vendor: name,
          ...abilities(provider),
        }));
        output.rows(rows, ['vendor', 'videos', 'images', 'cancel', 'list', 'callback', 'link_seconds']);
        return;
      }
      const provider = Object.hasOwn(providers, vendor) ? providers[vendor] : undefined;
      if (provider === undefined)
        throw new CommandError(`There is no vendor ${vendor}: ${Object.keys(providers).join(', ')}.`);
      if (model === undefined) showVendor(vendor, provider, output);
      else output.item({ vendor, model, facts: factsOf(vendor, provider, model) });
    });
}

/** Of its videos, or of its images where it makes no videos. */
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
  const { facts } = provider.video ?? {};
  if (facts === undefined || typeof facts === 'function') {
    output.item({ vendor, ...abilities(provider), models: [] });
    return;
  }
  const others = { model: 'others', facts: facts.others };
  const models = [...facts.models.map(([name, known]) => ({ model: name.source, facts: known })), others];
  if (output.isJson) output.item({ vendor, ...abilities(provider), models });
  else
    output.rows(
      models.map((entry) => summary(entry.model, entry.facts)),
      columns,
    );
}

const columns = [
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

/** Of what depends on the request only that there are cases: all of it is in the JSON, and shown of one model. */
function summary(model: string, { media, resolutions, ratios, seconds, sound }: VideoFacts): Row {
  const { frames, references, videos, audios } = media ?? {};
  const { only, min, max } = seconds ?? {};
  const length =
    only?.join(', ') ?? (min === undefined && max === undefined ? undefined : `${min ?? 0}-${max ?? ''}`);
  return { model, frames, references, videos, audios, resolutions, ratios, seconds: length, sound };
}

function factsOf(vendor: string, { video }: Provider, model: string): VideoFacts {
  if (video?.facts === undefined || typeof video.facts === 'function')
    throw new CommandError(`The adapter ${vendor} has no table of video models.`);
  return servedFacts(video.facts, { upstream: model });
}
