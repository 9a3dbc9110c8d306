import { defined } from '../base/defined.ts';
import { parseDecimal } from './decimal.ts';
import { divideHalfUp, microsPerUnit, parseMicros, type Micros } from './money.ts';
import { isOfImage, isOfLength, isRendered, measures, type Measure } from './measures.ts';
import type { CountSource, Quantity, Step } from './reckoning.ts';

/** A line's `when` can test these. A test of an undefined text or duration always fails. */
export interface PriceFacts {
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly mode?: string;
  readonly service_tier?: string;
  readonly channel?: string;
  readonly video_input?: boolean;
  readonly audio_input?: boolean;
  readonly image_input?: boolean;
  readonly generate_audio?: boolean;
  readonly draft?: boolean;
  readonly duration?: number;
}

type TextFact = 'resolution' | 'ratio' | 'size' | 'quality' | 'mode' | 'service_tier' | 'channel';
type FlagFact = 'video_input' | 'audio_input' | 'image_input' | 'generate_audio' | 'draft';

export type PriceCondition = { readonly [F in TextFact]?: readonly string[] | undefined } & {
  readonly [F in FlagFact]?: boolean | undefined;
} & {
  readonly duration?: { readonly min?: number | undefined; readonly max?: number | undefined } | undefined;
};

export const textFacts = [
  'resolution',
  'ratio',
  'size',
  'quality',
  'mode',
  'service_tier',
  'channel',
] as const;
export const flagFacts = ['video_input', 'audio_input', 'image_input', 'generate_audio', 'draft'] as const;

export interface PriceLine {
  readonly measure: Measure;
  /** Currency units per unit of the measure, as a decimal string. */
  readonly price: string;
  /** The quantity that is free. With megapixels, it applies to each image. */
  readonly beyond?: number | undefined;
  readonly when?: PriceCondition | undefined;
}

/**
 * The charge is the sum of the lines. If several lines have the same measure, only the first whose `when` matches is
 * used.
 */
export interface Price {
  readonly minimum: string;
  readonly lines: readonly PriceLine[];
  readonly factor?: string;
  /**
   * An operator must decide on charges above this multiple of the hold. A decimal string that defaults to 3; `none`
   * disables the check.
   */
  readonly reviewAbove?: string;
}

/**
 * Everything that a task's price depends on, fixed when the hold is made so that later price changes do not affect it.
 * Stored as JSON in the hold's ledger entry and in the workflow's input.
 */
export interface PriceBasis {
  readonly price: Price;
  /** By channel id. A channel's price replaces the model's. */
  readonly channels?: Readonly<Record<string, Price>>;
  /** All prices are multiplied by the account's factor. Undefined if it is 1. */
  readonly factor?: string;
  readonly facts: PriceFacts;
  /** By channel id: the names of facts that the channel does not receive. */
  readonly unsent?: Readonly<Record<string, readonly string[]>>;
  /** By channel id: the size that determines an image's price if no price line matches the image's own size. */
  readonly sizes?: Readonly<Record<string, string>>;
  /** The measured length of the request's videos. Undefined if it is unknown or does not affect the price. */
  readonly input_seconds?: number;
  readonly most?: MostOutput;
  readonly bounds?: Bounds;
  /** The request's minimum price, in micro-units as decimal text. Charged if none of the known facts can be priced. */
  readonly least?: string;
  readonly version: string;
}

export type Bounds = { readonly [M in Measure]?: Bound };

export interface Bound {
  readonly most: string;
  /**
   * Where the quantity comes from. `request` and `measured` are actual quantities. `assumed` is only an upper limit, so
   * nothing is charged unless the upstream reports a count.
   */
  readonly source: 'request' | 'measured' | 'assumed';
}

export interface MostOutput {
  readonly seconds?: number;
  readonly images?: number;
  /** Facts that the upstream may choose even though the request specifies them. */
  readonly open?: readonly (keyof PriceFacts)[];
  /** The upstream chooses among these if the channel does not request a specific resolution. */
  readonly resolutions?: readonly string[];
}

/** A part of a task with a price of its own: the whole task, or a group of images with the same facts. */
export interface Part {
  readonly facts: PriceFacts;
  readonly of?: PriceFacts;
  readonly images?: number;
  readonly counts: Counts;
}

export type Counts = { readonly [M in Measure]?: Count };

export interface Count {
  readonly quantity: Quantity;
  readonly source: CountSource;
}

/** Assumed counts affect only holds, so they become zero in charges. */
export function chargeable({ quantity, source }: Count): Count {
  return { quantity: source === 'assumed' ? { ...quantity, numerator: 0n } : quantity, source };
}

export interface ChargedLine extends Count {
  readonly line: number;
  readonly measure: Measure;
  readonly price: Micros;
  readonly free: Quantity;
  readonly of?: PriceFacts;
  /** The number of images whose megapixels this line adds up. Undefined if there is only one image. */
  readonly images?: number;
  /** In millionths of a micro-unit. Lines are added up before rounding. */
  readonly exact: bigint;
}

export interface Charge {
  readonly amount: Micros;
  readonly lines: readonly ChargedLine[];
  readonly steps: readonly Step[];
}

export function priceAt(basis: PriceBasis, channel: string): Price {
  const { price, channels = {}, factor } = basis;
  const own = hasOwnPrice(basis, channel) ? channels[channel] : undefined;
  return { ...(own ?? price), ...defined({ factor }) };
}

export function hasOwnPrice({ channels = {} }: PriceBasis, channel: string): boolean {
  return Object.hasOwn(channels, channel);
}

export function factsAt({ facts, unsent = {} }: PriceBasis, channel: string): PriceFacts {
  const names = Object.hasOwn(unsent, channel) ? unsent[channel] : undefined;
  return names === undefined
    ? facts
    : Object.fromEntries(Object.entries(facts).filter(([name]) => !names.includes(name)));
}

const measuresByLines = new WeakMap<Price['lines'], readonly Measure[]>();

export function measuresOf({ lines }: Pick<Price, 'lines'>): readonly Measure[] {
  const known = measuresByLines.get(lines);
  if (known !== undefined) return known;
  const named = measures.filter((measure) => lines.some((line) => line.measure === measure));
  measuresByLines.set(lines, named);
  return named;
}

/**
 * Returns the measures of rendered output in the price, or `call` if it has none. A request can be priced only if a
 * line matches for each of them.
 */
export function requiredMeasures(price: Pick<Price, 'lines'>): readonly Measure[] {
  const named = measuresOf(price);
  const rendered = named.filter(isRendered);
  return rendered.length > 0 ? rendered : named.filter((measure) => measure === 'call');
}

export function isPricedBy(price: Pick<Price, 'lines'>, ...some: readonly Measure[]): boolean {
  return measuresOf(price).some((measure) => some.includes(measure));
}

export function measuresLength(price: Pick<Price, 'lines'>): boolean {
  return measuresOf(price).some(isOfLength);
}

export function leavesPixelsOpen(basis: PriceBasis, channel: string): boolean {
  const { lines } = priceAt(basis, channel);
  const isBySize = lines.some(({ measure, when }) => measure === 'megapixel' || when?.size !== undefined);
  return isBySize && isOpenFact(factsAt(basis, channel).size);
}

export function isByFormula(price: Pick<Price, 'lines'>): boolean {
  return isPricedBy(price, 'million_tokens');
}

export function findLine(
  { lines }: Pick<Price, 'lines'>,
  measure: Measure,
  facts: PriceFacts,
): number | undefined {
  const index = lines.findIndex((line) => line.measure === measure && holds(line.when ?? {}, facts));
  return index < 0 ? undefined : index;
}

export function holds(when: PriceCondition, facts: PriceFacts): boolean {
  for (const name of textFacts) {
    const allowed = when[name];
    const fact = facts[name];
    if (allowed !== undefined && (fact === undefined || !allowed.includes(fact))) return false;
  }
  for (const name of flagFacts) {
    if (when[name] !== undefined && when[name] !== (facts[name] ?? false)) return false;
  }
  if (when.duration === undefined) return true;
  if (facts.duration === undefined) return false;
  return facts.duration >= (when.duration.min ?? 0) && facts.duration <= (when.duration.max ?? Infinity);
}

/** Fine enough to represent the price of every quantity exactly. */
const exactPerMicro = 1_000_000n;

/**
 * Adds up the lines (price × count), rounds the sum half up once, and applies the minimum and the account's factor.
 * Returns undefined if a required measure has no matching line or no count.
 */
export function chargeOf(
  price: Pick<Price, 'lines' | 'minimum' | 'factor'>,
  parts: readonly Part[],
): Charge | undefined {
  const named = measuresOf(price);
  const required = requiredMeasures(price);
  const met = new Set<Measure>();
  const lines: ChargedLine[] = [];
  for (const part of parts) {
    for (const measure of named) {
      const count = part.counts[measure];
      if (count === undefined) continue;
      const line = findLine(price, measure, part.facts);
      if (line === undefined && required.includes(measure)) return undefined;
      if (line === undefined) continue;
      met.add(measure);
      const charged = chargeLine(price.lines[line], line, { ...part, count });
      if (charged !== undefined) lines.push(charged);
    }
  }
  if (required.length === 0 || required.some((measure) => !met.has(measure))) return undefined;
  const sum = divideHalfUp(
    lines.reduce((total, { exact }) => total + exact, 0n),
    exactPerMicro,
  );
  const minimum = parseMicros(price.minimum) ?? 0n;
  const full = sum > minimum ? sum : minimum;
  const steps: Step[] = [
    { kind: 'sum', amount: sum },
    { kind: 'minimum', minimum, amount: full },
  ];
  const { factor } = price;
  if (factor === undefined) return { amount: full, lines, steps };
  const amount = multiply(full, factor);
  return { amount, lines, steps: [...steps, { kind: 'factor', factor, amount }] };
}

function chargeLine(
  line: PriceLine | undefined,
  index: number,
  { count, of, images = 1 }: Part & { readonly count: Count },
): ChargedLine | undefined {
  const { quantity, source } = count;
  const { numerator, denominator } = quantity;
  if (line === undefined) return undefined;
  const { measure, beyond = 0 } = line;
  if (numerator === 0n && source !== 'assumed' && !isRendered(measure)) return undefined;
  const price = parseMicros(line.price) ?? 0n;
  const each = measure === 'megapixel' ? images : 1;
  const { digits = 0n, places = 0 } = parseDecimal(String(beyond)) ?? {};
  // Both quantities in the same unit, so that a fraction of an image or a megapixel is not rounded.
  const parts = 10n ** BigInt(places);
  const [all, free] = [numerator * parts, digits * BigInt(each) * denominator];
  const unpaid = all > free ? free : all;
  const exact = divideHalfUp(price * (all - unpaid) * exactPerMicro, denominator * parts);
  return {
    line: index,
    measure,
    price,
    quantity,
    source,
    free: reduced({ numerator: unpaid, denominator: denominator * parts }, parts),
    exact,
    ...(each === 1 ? {} : { images }),
    ...(of === undefined || !isOfImage(measure) ? {} : { of }),
  };
}

function reduced({ numerator, denominator }: Quantity, by: bigint): Quantity {
  return numerator % by === 0n
    ? { numerator: numerator / by, denominator: denominator / by }
    : { numerator, denominator };
}

/** `multiplier` is a decimal string such as "1.25". Rounds half up. */
export function multiply(amount: Micros, multiplier: string): Micros {
  return divideHalfUp(amount * (parseMicros(multiplier) ?? microsPerUnit), microsPerUnit);
}

export const reviewAboveDefault = '3';
export const noReview = 'none';

export function asksAnybody({ reviewAbove }: Price): boolean {
  return reviewAbove !== noReview;
}

export function needsReview(
  { reviewAbove = reviewAboveDefault }: Pick<Price, 'reviewAbove'>,
  { held, amount }: { readonly held: Micros; readonly amount: Micros },
): boolean {
  return reviewAbove !== noReview && amount > multiply(held, reviewAbove);
}

export function isOpenFact(asked: string | undefined): boolean {
  return asked === undefined || asked === 'auto' || asked === 'adaptive';
}
