import { pointerTo } from '../base/json-pointer.js';
import { z } from 'zod';
import type { CatalogueChannel, CatalogueModel, ExampleCatalogue } from '../config/example-catalogue.ts';
import { readYaml } from '../config/read-yaml.ts';
import { divideHalfUp, formatMicros, parseMicros } from '../money/money.ts';
import { GatewayError, invalidParameter } from '../errors/errors.ts';

export interface CatalogueAddition {
  readonly model: string;
  /** A channel of the draft or the catalogue. Adding one from the catalogue requires `apiKey`. */
  readonly channel: string;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly hasListedCost?: boolean | undefined;
  /** A markup on the catalogue's prices, in per cent with at most two decimal places. It does not change the costs. */
  readonly markupPercent?: number | undefined;
}

const lineSchema = z.object({
  measure: z.string(),
  price: z.union([z.string(), z.number()]).transform(String),
  when: z.record(z.string(), z.unknown()).default({}),
  beyond: z.number().default(0),
});
const linesSchema = z.object({ lines: z.array(lineSchema) }).catch({ lines: [] });

export interface DraftContents {
  readonly channels: readonly {
    readonly id: string;
    readonly provider: string;
    readonly credentials: readonly string[];
  }[];
  readonly models: readonly { readonly id: string; readonly lines: z.output<typeof lineSchema>[] }[];
}

const channelSchema = z.looseObject({
  id: z.string(),
  provider: z.string(),
  credentials: z.array(z.looseObject({ id: z.string().optional() })).optional(),
});
const modelSchema = z.looseObject({ id: z.string(), price: z.unknown().optional() });
const draftSchema = z.looseObject({
  channels: z.array(channelSchema).default([]),
  models: z.array(modelSchema).default([]),
});
const list = z.array(z.unknown()).catch([]);
const listsSchema = z.object({ channels: list, models: list }).catch({ channels: [], models: [] });

export function additionTo(
  text: string,
  { model, channel, apiKey, baseUrl, hasListedCost, markupPercent = 0 }: CatalogueAddition,
  catalogue: ExampleCatalogue,
): Readonly<Record<string, unknown>> {
  const draft = draftOf(text);
  const facts = catalogue.models.find(({ id }) => id === model);
  if (facts === undefined) throw invalidParameter('model', `The catalogue has no model ${model}.`);
  const own = draft.channels.find(({ id }) => id === channel);
  const isSource = ({ id, provider }: CatalogueChannel) =>
    own === undefined ? id === channel : provider === own.provider;
  const source = catalogue.channels.find((one) => isSource(one) && one.models[model] !== undefined);
  const found = source?.models[model];
  if (source === undefined || found === undefined)
    throw invalidParameter('channel', `The catalogue does not say how ${channel} serves ${model}.`);
  const served = hasListedCost === true ? { cost: costOf(facts), ...found } : found;
  const isKnown = draft.models.some(({ id }) => id === model);
  if (isKnown && markupPercent !== 0)
    throw invalidParameter(
      'markup_percent',
      `The draft already has the model ${model}, and adding it again does not change its prices. Change the prices separately, or add the model without a markup.`,
    );
  const priced = isKnown ? {} : { [pointerTo('models', model)]: markedUp(facts, markupPercent) };
  if (own !== undefined)
    return {
      ...priced,
      ...accessTo(own, { apiKey, baseUrl }),
      [pointerTo('channels', channel, 'models', model)]: served,
    };
  if (apiKey === undefined)
    throw new GatewayError(
      'missing_parameter',
      `The parameter api_key is required, because the draft has no channel ${channel} yet.`,
      { param: 'api_key' },
    );
  const { id: _name, models: _models, base_url, ...rest } = source;
  return {
    ...priced,
    [pointerTo('channels', channel)]: {
      ...withoutVariables(rest),
      base_url: baseUrl ?? base_url,
      credentials: [{ id: 'main', api_key: apiKey }],
      models: { [model]: served },
    },
  };
}

const writtenPriceSchema = z.looseObject({ lines: z.array(z.looseObject({ price: z.string() })) });

function markedUp({ written, price }: CatalogueModel, percent: number): Readonly<Record<string, unknown>> {
  if (percent === 0) return written;
  const { lines, ...rest } = writtenPriceSchema.parse(written['price']);
  const minimum = 'minimum' in rest ? { minimum: withMarkup(price.minimum, percent) } : {};
  const marked = lines.map((line) => ({ ...line, price: withMarkup(line.price, percent) }));
  return { ...written, price: { ...rest, ...minimum, lines: marked } };
}

const basisPoints = 10_000n;

/** Returns as few decimal places as possible, but at least two. */
function withMarkup(price: string, percent: number): string {
  const factor = basisPoints + BigInt(Math.round(percent * 100));
  const marked = formatMicros(divideHalfUp((parseMicros(price) ?? 0n) * factor, basisPoints));
  return marked.replace(/0{1,4}$/, '');
}

function costOf({ price: { minimum, lines } }: CatalogueModel) {
  return {
    minimum,
    lines: lines.map(({ measure, price, when, beyond }) => ({
      measure,
      ...(Object.keys(when).length === 0 ? {} : { when }),
      ...(beyond === 0 ? {} : { beyond }),
      price,
    })),
  };
}

function accessTo(
  { id, credentials }: z.output<typeof channelSchema>,
  { apiKey, baseUrl }: Pick<CatalogueAddition, 'apiKey' | 'baseUrl'>,
): Readonly<Record<string, unknown>> {
  const address = baseUrl === undefined ? {} : { [pointerTo('channels', id, 'base_url')]: baseUrl };
  if (apiKey === undefined) return address;
  if (credentials === undefined)
    return { ...address, [pointerTo('channels', id, 'credentials')]: [{ id: 'main', api_key: apiKey }] };
  const main = ['channels', id, 'credentials', 'main'];
  return credentials.some((one) => one.id === 'main')
    ? { ...address, [pointerTo(...main, 'api_key')]: apiKey }
    : { ...address, [pointerTo(...main)]: { api_key: apiKey } };
}

export function contentsOf(value: unknown): DraftContents {
  const { channels, models } = listsSchema.parse(value);
  return {
    channels: channels.flatMap((one) => {
      const { data } = channelSchema.safeParse(one);
      if (data === undefined) return [];
      const { id, provider, credentials = [] } = data;
      return [{ id, provider, credentials: credentials.flatMap((credential) => credential.id ?? []) }];
    }),
    models: models.flatMap((one) => {
      const { data } = modelSchema.safeParse(one);
      return data === undefined ? [] : [{ id: data.id, lines: linesSchema.parse(data.price).lines }];
    }),
  };
}

function draftOf(text: string) {
  const read = readYaml(text);
  const draft = draftSchema.safeParse('value' in read ? read.value : undefined);
  if (draft.success) return draft.data;
  throw new GatewayError(
    'action_not_possible',
    'The list of channels or models in the draft has errors. Correct the draft’s text first.',
  );
}

/**
 * Nobody sets environment variables for a channel that was added in a draft, so fields that refer to one are omitted.
 */
function withoutVariables(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => !JSON.stringify(value).includes('${')),
  );
}
