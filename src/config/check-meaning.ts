import { z } from 'zod';
import { imageFactsSchema, videoFactsSchema } from '../models/model-facts.ts';
import { measures, measureSells } from '../money/measures.ts';
import { checkPrices } from './price-coverage.ts';
import { formatPath } from './config-error.ts';
import { channelPriceSchema } from '../money/price-schema.ts';
import { modelSchema, type ModelConfig } from './gateway-schema.ts';

/** Contains only what the checks need, so that it can be read even if other parts of the file are invalid. */
const outline = z.object({
  channels: z
    .array(
      z
        .object({
          id: z.string().catch(''),
          provider: z.string().optional().catch(undefined),
          cost: z.unknown().optional(),
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

export interface Adapters {
  readonly providerNames: readonly string[];
  /** Adapters whose results must be copied, because callers cannot use the vendor's links. */
  readonly needingStorage?: readonly string[];
  /** Results of a vendor file must also be copied if their links expire sooner than this. */
  readonly linkLifeMinSeconds?: number;
  /** Adapters that serve only mapped models. If undefined, mappings are not checked. */
  readonly mapped?: readonly string[];
}

interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Finds errors that the schema cannot detect, such as unknown names, empty ranges, and prices that do not fit the
 * model. Checks everything that can be read, so that all violations are reported together.
 */
export function checkMeaning(value: unknown, adapters: Adapters): string[] {
  const file = outline.safeParse(value).data;
  if (file === undefined) return [];
  const models = file.models.map((model) => modelSchema.safeParse(model).data);
  const issues = [
    ...checkChannels(file, adapters),
    ...checkChannelPrices(models, file),
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
  return channels.flatMap(({ provider, cost, models: served }, index) => {
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
          ...costIssues({ model, inherited: cost, kind: kinds.get(name) }, path),
          ...foreignFacts(model, kinds.get(name)).map((word) => ({
            path: [...path, 'facts', word],
            message: `does not apply to ${kinds.get(name) === 'image' ? 'an image' : 'a video'} model`,
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

function foreignFacts(model: unknown, kind: string | undefined): string[] {
  const said = Object.keys(factsSchema.safeParse(model).data?.facts ?? {});
  const [own, other] =
    kind === 'image' ? [imageFactsSchema, videoFactsSchema] : [videoFactsSchema, imageFactsSchema];
  if (kind === undefined) return [];
  return said.filter((word) => !Object.hasOwn(own.shape, word) && Object.hasOwn(other.shape, word));
}

const linesSchema = z.object({ lines: z.array(z.object({ measure: z.enum(measures) })) });
const costed = z.object({ cost: linesSchema });

interface Costing {
  readonly model: unknown;
  readonly inherited: unknown;
  readonly kind: string | undefined;
}

/** If none of the lines measures something that the model produces, the cost can never be determined. */
function costIssues({ model, inherited, kind }: Costing, path: Issue['path']): Issue[] {
  const { lines } = costed.safeParse(model).data?.cost ?? linesSchema.safeParse(inherited).data ?? {};
  if (lines === undefined || (kind !== 'video' && kind !== 'image')) return [];
  const foreign = lines.filter(({ measure }) => !measureSells(measure, kind));
  const [first] = foreign;
  if (first === undefined || foreign.length < lines.length) return [];
  return [{ path: [...path, 'cost'], message: `${first.measure}: does not measure ${kind} models` }];
}

const mappedSchema = z.object({ mapping: z.unknown() });

function mappingIssue(provider: string, model: unknown, { mapped }: Adapters): string | undefined {
  if (mapped === undefined) return undefined;
  const isGiven = mappedSchema.safeParse(model).data?.mapping !== undefined;
  if (mapped.includes(provider) === isGiven) return undefined;
  return isGiven
    ? `"${provider}" knows its models' fields and does not accept a mapping`
    : `required: "${provider}" serves any model, but needs a mapping for it`;
}

function checkModel(model: ModelConfig, { channels }: Outline): Issue[] {
  const ids = new Set(channels.map(({ id }) => id));
  const unknown = model.price.lines.flatMap(({ when }, index) =>
    (when?.channel ?? [])
      .filter((id) => !ids.has(id))
      .map((id) => ({
        path: ['price', 'lines', index, 'when', 'channel'],
        message: `"${id}" is not in the list of channels`,
      })),
  );
  const durations = checkDurations(model);
  const served = channels.filter(({ models }) => models[model.id] !== undefined);
  const serving = served.map(({ id }) => id);
  const issues = [...unknown, ...durations, ...checkFallback(model, ids, serving)];
  // Skip the price checks if there are other issues, because they would report the same unknown channel or empty range
  // again.
  if (issues.length > 0) return issues;
  const sharing = served.filter(({ models }) => ownPrice(models[model.id]) === undefined);
  // The model's price is never used if every channel has one of its own, so do not check it.
  if (served.length > 0 && sharing.length === 0) return [];
  return checkPrices({ ...model, channels: sharing.map(({ id }) => id) });
}

const pricedSchema = z.object({ price: channelPriceSchema });

function ownPrice(served: unknown): z.output<typeof channelPriceSchema> | undefined {
  return pricedSchema.safeParse(served).data?.price;
}

function checkChannelPrices(models: readonly (ModelConfig | undefined)[], { channels }: Outline): Issue[] {
  return channels.flatMap(({ id, models: served }, index) =>
    models.flatMap((model) => {
      const price = model === undefined ? undefined : ownPrice(served[model.id]);
      if (model === undefined || price === undefined) return [];
      return checkPrices({ ...model, price, channels: [id] }).map(({ path, message }) => ({
        path: ['channels', index, 'models', model.id, ...path],
        message,
      }));
    }),
  );
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
  const message = `${asked.join(' and ')}: rejected content is sent to another vendor only if allow_moderation: true is set`;
  return [...wrong, ...(isAlone ? [alone] : []), ...(needed ? [{ path: ['fallback', 'on'], message }] : [])];
}

function checkDurations({ durations }: ModelConfig): Issue[] {
  if (durations === undefined) return [];
  const { min, max, default: usual } = durations;
  if (min > max) return [{ path: ['durations', 'min'], message: `${min} is above max, ${max}` }];
  if (usual === undefined || (usual >= min && usual <= max)) return [];
  return [{ path: ['durations', 'default'], message: `${usual} is not between ${min} and ${max}` }];
}
