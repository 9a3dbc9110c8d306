import { z } from 'zod';
import { imageFactsSchema, videoFactsSchema } from '../domain/model-facts.ts';
import { checkPrices } from '../domain/price-coverage.ts';
import { formatPath } from './config-error.ts';
import { modelSchema } from './gateway-schema.ts';
import type { ModelConfig } from './gateway-schema.ts';

/** The parts of a file that the checks need, whatever else is wrong with it. */
const outline = z.object({
  channels: z
    .array(
      z
        .object({
          id: z.string().catch(''),
          provider: z.string().optional().catch(undefined),
          models: z.record(z.string(), z.unknown()).catch({}),
        })
        .catch({ id: '', models: {} }),
    )
    .catch([]),
  models: z.array(z.unknown()).catch([]),
  results: z
    .object({ storage: z.string().default('none') })
    .catch({ storage: '' })
    .prefault({}),
});
type Outline = z.infer<typeof outline>;

/** The adapters that exist. */
export interface Adapters {
  readonly providerNames: readonly string[];
  /** Those whose links callers cannot use: their results must be copied. */
  readonly needingStorage?: readonly string[];
  /** Those that know a model by its mapping only; absent: nothing is known of mappings. */
  readonly mapped?: readonly string[];
}

interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Mistakes in a file that a schema cannot detect: names of nothing, ranges that are empty, prices that do not fit the
 * model. Checks every part that can be read, so that all violations are reported at once. One line each, with its path.
 */
export function checkMeaning(value: unknown, adapters: Adapters): string[] {
  const file = outline.safeParse(value).data;
  if (file === undefined) return [];
  const models = file.models.map((model) => modelSchema.safeParse(model).data);
  const issues = [
    ...checkChannels(file, adapters),
    ...models.flatMap((model, index) =>
      model === undefined
        ? []
        : checkModel(model, file).map(({ path, message }) => ({ path: ['models', index, ...path], message })),
    ),
  ];
  return issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

const named = z.object({ id: z.string(), kind: z.string().optional().catch(undefined) });

function checkChannels({ channels, models, results }: Outline, adapters: Adapters): Issue[] {
  const kinds = new Map(
    models.flatMap((model) => {
      const { id, kind } = named.safeParse(model).data ?? {};
      return id === undefined ? [] : [[id, kind] as const];
    }),
  );
  return channels.flatMap(({ provider, models: served }, index) => {
    const message = provider === undefined ? undefined : providerIssue(provider, results.storage, adapters);
    return [
      ...(message === undefined ? [] : [{ path: ['channels', index, 'provider'], message }]),
      ...Object.keys(served)
        .filter((name) => !kinds.has(name))
        .map((name) => ({
          path: ['channels', index, 'models', name],
          message: 'is not in the list of models',
        })),
      ...Object.entries(served).flatMap(([name, model]) => {
        const path = ['channels', index, 'models', name] as const;
        const wrong = provider === undefined ? undefined : mappingIssue(provider, model, adapters);
        return [
          ...(wrong === undefined ? [] : [{ path: [...path, 'mapping'], message: wrong }]),
          ...foreignFacts(model, kinds.get(name)).map((word) => ({
            path: [...path, 'facts', word],
            message: `does not concern ${kinds.get(name) === 'image' ? 'an image' : 'a video'} model`,
          })),
        ];
      }),
    ];
  });
}

function providerIssue(
  provider: string,
  storage: string,
  { providerNames, needingStorage = [] }: Adapters,
): string | undefined {
  if (!providerNames.includes(provider)) return `"${provider}" must be one of ${providerNames.join(', ')}`;
  return storage === 'none' && needingStorage.includes(provider)
    ? `"${provider}" needs results.storage: its links expire within minutes or need its key, so results must be copied`
    : undefined;
}

const factsSchema = z.object({ facts: z.record(z.string(), z.unknown()) });

/** Words of `facts` that only models of the other kind have. */
function foreignFacts(model: unknown, kind: string | undefined): string[] {
  const said = Object.keys(factsSchema.safeParse(model).data?.facts ?? {});
  const [own, other] =
    kind === 'image' ? [imageFactsSchema, videoFactsSchema] : [videoFactsSchema, imageFactsSchema];
  if (kind === undefined) return [];
  return said.filter((word) => !Object.hasOwn(own.shape, word) && Object.hasOwn(other.shape, word));
}

const mappedSchema = z.object({ mapping: z.unknown() });

function mappingIssue(provider: string, model: unknown, { mapped }: Adapters): string | undefined {
  if (mapped === undefined) return undefined;
  const isGiven = mappedSchema.safeParse(model).data?.mapping !== undefined;
  if (mapped.includes(provider) === isGiven) return undefined;
  return isGiven
    ? `"${provider}" knows its models' fields and does not accept a mapping`
    : `required: "${provider}" serves any model, by a mapping`;
}

function checkModel(model: ModelConfig, { channels }: Outline): Issue[] {
  const ids = new Set(channels.map(({ id }) => id));
  const unknown = model.price.rules.flatMap(({ when }, index) =>
    (when?.channel ?? [])
      .filter((id) => !ids.has(id))
      .map((id) => ({
        path: ['price', 'rules', index, 'when', 'channel'],
        message: `"${id}" is not in the list of channels`,
      })),
  );
  const durations = checkDurations(model);
  const serving = channels.filter(({ models }) => models[model.id] !== undefined).map(({ id }) => id);
  const issues = [...unknown, ...durations, ...checkFallback(model, ids, serving)];
  // One mistake is reported once: an unknown channel or an empty range would be found again in the rules.
  return issues.length > 0 ? issues : checkPrices({ ...model, channels: serving });
}

function checkFallback(
  { id: model, fallback }: ModelConfig,
  known: ReadonlySet<string>,
  serving: readonly string[],
): Issue[] {
  if (fallback === undefined) return [];
  const wrong = fallback.channels.flatMap((id, index) => {
    const message = known.has(id)
      ? `"${id}" does not serve ${model}`
      : `"${id}" is not in the list of channels`;
    return serving.includes(id) ? [] : [{ path: ['fallback', 'channels', index], message }];
  });
  const isAlone = wrong.length === 0 && serving.length === 1;
  const alone = { path: ['fallback', 'channels'], message: `no other channel serves ${model}` };
  const asked = fallback.on.filter((name) => name.startsWith('moderation_'));
  const needed = asked.length > 0 && !fallback.allow_moderation;
  const message = `${asked.join(' and ')}: what one vendor refused goes to another one only with allow_moderation: true`;
  return [...wrong, ...(isAlone ? [alone] : []), ...(needed ? [{ path: ['fallback', 'on'], message }] : [])];
}

function checkDurations({ durations }: ModelConfig): Issue[] {
  if (durations === undefined) return [];
  const { min, max, default: usual } = durations;
  if (min > max) return [{ path: ['durations', 'min'], message: `${min} is above max, ${max}` }];
  if (usual === undefined || (usual >= min && usual <= max)) return [];
  return [{ path: ['durations', 'default'], message: `${usual} is not between ${min} and ${max}` }];
}
