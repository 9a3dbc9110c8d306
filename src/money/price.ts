import { divideHalfUp, microsPerUnit, parseMicros } from './money.ts';
import type { Micros } from './money.ts';
import { isOfImage, isOfLength, isRendered, measures } from './measures.ts';
import type { Measure } from './measures.ts';
import type { CountSource, Quantity, Step } from './reckoning.ts';

/** The facts that a line's `when` may test. A line that tests an unknown (absent) fact does not match. */
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
  /** Seconds. */
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
  /** Decimal string: currency units for one unit of the measure. */
  readonly price: string;
  /** The quantity that is free. For megapixels, it is free for each image. */
  readonly beyond?: number | undefined;
  readonly when?: PriceCondition | undefined;
}

/**
 * The charge is the sum of the lines. If several lines have the same measure, the first whose `when` matches counts.
 */
export interface Price {
  /** Decimal string: no successful task costs less. */
  readonly minimum: string;
  readonly lines: readonly PriceLine[];
  /** Decimal string: a person decides about a charge above this multiple of the hold. `none`: nobody does. Absent: above 3. */
  readonly reviewAbove?: string;
}

/**
 * The basis of a task's price: frozen when the hold is taken, JSON-safe, kept in the hold's ledger entry and in the
 * workflow's input. Editing prices never touches it.
 */
export interface PriceBasis {
  /** The model's. */
  readonly price: Price;
  /** Of channels that have a price of their own, by their ids: it takes the place of the model's there. */
  readonly channels?: Readonly<Record<string, Price>>;
  readonly facts: PriceFacts;
  /** By channel id: the size at which an image is priced if no price line names its own size. */
  readonly sizes?: Readonly<Record<string, string>>;
  /** Of the videos that the request gives, as measured; absent: not known, or nothing is priced by it. */
  readonly input_seconds?: number;
  /** The most output that the request and its model allow. */
  readonly most?: MostOutput;
  /** The most input that the request and its model allow, and the most megapixels of each image. */
  readonly bounds?: Bounds;
  /**
   * Micro-units as decimal text: the least that the request can cost. It is charged if nothing is known that could be
   * priced.
   */
  readonly least?: string;
  /** Fingerprint of the configuration that the price came from. */
  readonly version: string;
}

export type Bounds = { readonly [M in Measure]?: Bound };

export interface Bound {
  /** `numerator/denominator` */
  readonly most: string;
  /**
   * `assumed`: only an upper limit. Nothing is charged for it unless the upstream reports a count. With `request` and
   * `measured`, the bound is the actual quantity.
   */
  readonly source: 'request' | 'measured' | 'assumed';
}

/** The most that a request can come to; what is absent is not limited. */
export interface MostOutput {
  readonly seconds?: number;
  readonly images?: number;
  /** Facts that the request names, and the upstream chooses all the same. */
  readonly open?: readonly (keyof PriceFacts)[];
  /** Of a request that names no resolution: those that the upstream may choose. */
  readonly resolutions?: readonly string[];
}

/** A part of a task that is priced as one: the whole task, or a group of images that are alike. */
export interface Part {
  readonly facts: PriceFacts;
  /** The facts of a group of images, if groups differ. */
  readonly of?: PriceFacts;
  readonly images?: number;
  readonly counts: Counts;
}

export type Counts = { readonly [M in Measure]?: Count };

export interface Count {
  readonly quantity: Quantity;
  readonly source: CountSource;
}

/** The count that is charged. An assumed one is only held. */
export function chargeable({ quantity, source }: Count): Count {
  return { quantity: source === 'assumed' ? { ...quantity, numerator: 0n } : quantity, source };
}

/** A price line applied to a count. */
export interface ChargedLine extends Count {
  /** Index into `price.lines`. */
  readonly line: number;
  readonly measure: Measure;
  readonly price: Micros;
  /** The free part of the count. */
  readonly free: bigint;
  readonly of?: PriceFacts;
  /** The number of images that megapixels are counted for. Undefined: one. */
  readonly images?: number;
  /** Millionths of a micro-unit, because lines are added before rounding. */
  readonly exact: bigint;
}

export interface Charge {
  readonly amount: Micros;
  readonly lines: readonly ChargedLine[];
  /** The steps from the lines to the amount. The last step has the final amount. */
  readonly steps: readonly Step[];
}

/** What a task is charged by that is rendered at this channel. */
export function priceAt({ price, channels = {} }: PriceBasis, channel: string): Price {
  const own = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  return own ?? price;
}

/** Cached because every create needs the measures several times, and the lines of a price never change. */
const measuresByLines = new WeakMap<Price['lines'], readonly Measure[]>();

/** Returns the measures of the price in the order of `measures`. */
export function measuresOf({ lines }: Pick<Price, 'lines'>): readonly Measure[] {
  const known = measuresByLines.get(lines);
  if (known !== undefined) return known;
  const named = measures.filter((measure) => lines.some((line) => line.measure === measure));
  measuresByLines.set(lines, named);
  return named;
}

/**
 * Measures that need a matching price line; without one, the request has no price. These are the measures of rendered
 * output or, if the price has none, `call`.
 */
export function requiredMeasures(price: Pick<Price, 'lines'>): readonly Measure[] {
  const named = measuresOf(price);
  const rendered = named.filter(isRendered);
  return rendered.length > 0 ? rendered : named.filter((measure) => measure === 'call');
}

export function isPricedBy(price: Pick<Price, 'lines'>, ...some: readonly Measure[]): boolean {
  return measuresOf(price).some((measure) => some.includes(measure));
}

/** Whether the price depends on the length of a video. */
export function measuresLength(price: Pick<Price, 'lines'>): boolean {
  return measuresOf(price).some(isOfLength);
}

/** Whether the charge depends on a pixel size that the request leaves to the upstream. */
export function leavesPixelsOpen(basis: PriceBasis, channel: string): boolean {
  const { lines } = priceAt(basis, channel);
  const isBySize = lines.some(({ measure, when }) => measure === 'megapixel' || when?.size !== undefined);
  return isBySize && isOpenFact(basis.facts.size);
}

/** Whether the price depends on the adapter's token formula. */
export function isByFormula(price: Pick<Price, 'lines'>): boolean {
  return isPricedBy(price, 'million_tokens');
}

/** Returns the index of the first line of the measure that matches, or undefined. */
export function findLine(
  { lines }: Pick<Price, 'lines'>,
  measure: Measure,
  facts: PriceFacts,
): number | undefined {
  const index = lines.findIndex((line) => line.measure === measure && holds(line.when ?? {}, facts));
  return index < 0 ? undefined : index;
}

/** Whether every test of the condition holds. A fact that is not known fails its test; an absent flag is false. */
export function holds(when: PriceCondition, facts: PriceFacts): boolean {
  for (const name of textFacts) {
    const allowed = when[name];
    const fact = facts[name];
    if (allowed !== undefined && (fact === undefined || !allowed.includes(fact))) return false;
  }
  for (const name of flagFacts) {
    // An absent flag is false.
    if (when[name] !== undefined && when[name] !== (facts[name] ?? false)) return false;
  }
  if (when.duration === undefined) return true;
  if (facts.duration === undefined) return false;
  return facts.duration >= (when.duration.min ?? 0) && facts.duration <= (when.duration.max ?? Infinity);
}

/** At this precision, the price of every quantity is exact. */
const exactPerMicro = 1_000_000n;

/**
 * Adds up the lines (price × count), rounds the sum half up once, and applies the minimum. Returns undefined if a
 * required measure has no matching line or no count.
 */
export function chargeOf(
  price: Pick<Price, 'lines' | 'minimum'>,
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
  const amount = sum > minimum ? sum : minimum;
  const steps: Step[] = [
    { kind: 'sum', amount: sum },
    { kind: 'minimum', minimum, amount },
  ];
  return { amount, lines, steps };
}

/** Returns undefined for a count of zero that is not worth a line in the reckoning. */
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
  const free = BigInt(Math.round(beyond * each * Number(denominator)));
  const paid = numerator > free ? numerator - free : 0n;
  const exact = divideHalfUp(price * paid * exactPerMicro, denominator);
  return {
    line: index,
    measure,
    price,
    quantity,
    source,
    free: numerator - paid,
    exact,
    ...(each === 1 ? {} : { images }),
    ...(of === undefined || !isOfImage(measure) ? {} : { of }),
  };
}

/** amount × multiplier (decimal string, such as "1.25"), half up. */
export function multiply(amount: Micros, multiplier: string): Micros {
  return divideHalfUp(amount * (parseMicros(multiplier) ?? microsPerUnit), microsPerUnit);
}

/** An upstream's numbers are not to be trusted with more than this multiple of a hold. */
export const reviewAboveDefault = '3';
/** Instead of a multiple: nobody is asked. */
export const noReview = 'none';

/** Whether a person is asked about a charge that is not credible. */
export function asksAnybody({ reviewAbove }: Price): boolean {
  return reviewAbove !== noReview;
}

/** Whether the charge is so far above the hold that a person has to accept it. */
export function needsReview(
  { reviewAbove = reviewAboveDefault }: Pick<Price, 'reviewAbove'>,
  { held, amount }: { readonly held: Micros; readonly amount: Micros },
): boolean {
  return reviewAbove !== noReview && amount > multiply(held, reviewAbove);
}

/** The request leaves the fact to the upstream. */
export function isOpenFact(asked: string | undefined): boolean {
  return asked === undefined || asked === 'auto' || asked === 'adaptive';
}
