import type { ModelConfig } from '../config/gateway-file.ts';
import { defined } from '../base/defined.ts';
import { measuresLength, type Price, type PriceFacts } from '../money/price.ts';
import type { GenerationRequest, ImageRequest, VideoRequest } from '../models/request.ts';
import type { PossibleOutput } from '../providers/provider.ts';

export interface Output {
  readonly facts: PriceFacts;
  readonly seconds?: number;
}

export type PricedModel = Omit<ModelConfig, 'price'> & { readonly price: Pick<Price, 'lines'> };

/**
 * Returns the outputs that the upstream may render for the request, the usual one first. Properties that the request
 * leaves open can have the values in the model's entry, those in price lines, or none.
 */
export function openOutputs(
  request: GenerationRequest,
  model: PricedModel,
  possible: PossibleOutput,
): Output[] {
  if (request.kind === 'image') return imageOutputs(request, model);
  const ratio = possible.openRatio === true ? undefined : request.ratio;
  const shapes = product(
    optionsOf('resolution', resolutionsOf(request, model, possible)),
    optionsOf('ratio', openValues(ratio, model.ratios, namedBy(model, 'ratio'))),
  );
  const looks = product(
    optionsOf('size', sizesOf(request, model)),
    optionsOf('generate_audio', soundsOf(request, model)),
  );
  const lengths = lengthsOf(request, model, possible);
  return product(shapes, looks).flatMap((facts) =>
    lengths.map(({ facts: { duration }, seconds }) => ({
      facts: { ...facts, ...defined({ duration }) },
      ...defined({ seconds }),
    })),
  );
}

function imageOutputs(request: ImageRequest, model: PricedModel): Output[] {
  const sizes = openValues(request.size, model.sizes, namedBy(model, 'size'));
  const qualities = openValues(request.quality, model.qualities, namedBy(model, 'quality'));
  return product(optionsOf('size', sizes), optionsOf('quality', qualities)).map((facts) => ({ facts }));
}

function optionsOf<Name extends keyof PriceFacts>(
  name: Name,
  values: readonly PriceFacts[Name][],
): PriceFacts[] {
  return [...new Set(values)].map((value) => (value === undefined ? {} : { [name]: value }));
}

function product(left: readonly PriceFacts[], right: readonly PriceFacts[]): PriceFacts[] {
  return left.flatMap((one) => right.map((other) => ({ ...one, ...other })));
}

type TextFact = 'resolution' | 'ratio' | 'size' | 'quality';

function namedBy({ price }: PricedModel, fact: TextFact): readonly string[] {
  return price.lines.flatMap(({ when }) => when?.[fact] ?? []);
}

const openWords = new Set(['adaptive', 'auto']);

function openValues(
  asked: string | undefined,
  listed: readonly string[],
  named: readonly string[],
): readonly (string | undefined)[] {
  if (asked !== undefined && !openWords.has(asked)) return [asked];
  const usual = listed.find((value) => !openWords.has(value));
  // A value that no price line mentions costs the same as an omitted one, so undefined covers all such values.
  return [usual, ...named, undefined];
}

function resolutionsOf(
  request: VideoRequest,
  model: PricedModel,
  { resolutions }: PossibleOutput,
): readonly (string | undefined)[] {
  if (request.resolution !== undefined) return [request.resolution];
  return [...(resolutions ?? [...model.resolutions, ...namedBy(model, 'resolution')]), undefined];
}

/**
 * The upstream decides on the size even if the caller requested one, because only the ratio and the resolution are
 * sent.
 */
function sizesOf({ size }: VideoRequest, model: PricedModel): readonly (string | undefined)[] {
  return [size, ...namedBy(model, 'size')];
}

/** Some upstreams add sound unless the request forbids it. This matters only if a price line tests for sound. */
function soundsOf(request: VideoRequest, { price }: PricedModel): readonly (boolean | undefined)[] {
  if (request.generateAudio !== undefined) return [request.generateAudio];
  return price.lines.some(({ when }) => when?.generate_audio !== undefined) ? [undefined, true] : [undefined];
}

/** In seconds. Prices do not distinguish lengths that differ by less. */
const shortestStep = 0.001;

/**
 * Lists the usual, shortest and longest length, and every length in between at which a price line starts or stops
 * matching. If nothing limits the length, lists a missing length and each length that occurs in a price line.
 */
function lengthsOf(request: VideoRequest, model: PricedModel, possible: PossibleOutput): readonly Output[] {
  const { durations, price } = model;
  const asked = typeof request.duration === 'number' ? request.duration : undefined;
  const range = possible.seconds ?? (asked === undefined ? durations : { min: asked, max: asked });
  const { min, max } = range ?? { min: 0, max: Infinity };
  const bounds = price.lines.flatMap(({ when }) => {
    const { min: from, max: to } = when?.duration ?? {};
    return [...(from === undefined ? [] : [from, from - shortestStep]), ...(to === undefined ? [] : [to])];
  });
  const isPossible = (seconds: number): boolean => seconds >= min && seconds <= max;
  if (range === undefined)
    return [{ facts: {} }, ...bounds.filter(isPossible).map((duration) => ({ facts: { duration } }))];
  const usual = possible.seconds?.usual ?? asked ?? durations?.default ?? max;
  const chosen = [usual, max, min, ...bounds].filter(isPossible);
  const lengths = [...new Set(chosen)].map((seconds) => ({ facts: { duration: seconds }, seconds }));
  const unreported = { facts: defined({ duration: asked }), seconds: max };
  return measuresLength(price) ? lengths : [...lengths, unreported];
}
