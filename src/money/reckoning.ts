import { formatDecimal, shifted } from './decimal.ts';
import { formatMicros } from './money.ts';
import type { Micros } from './money.ts';
import type { Measure } from './measures.ts';
import type { ChargedLine, PriceFacts } from './price.ts';

/** The exact quantity of a measure, as a fraction: tokens / 1,000,000, milliseconds / 1,000, images / 1. */
export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** One step from the lines to the final amount. Each step starts from the previous step's amount. */
export type Step =
  /** The sum of the lines, rounded half up. */
  | { readonly kind: 'sum'; readonly amount: Micros }
  /** At least this. */
  | { readonly kind: 'minimum'; readonly minimum: Micros; readonly amount: Micros }
  /** Times a decimal, half up: what a model's entry adds to a hold. */
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: Micros }
  /** The hold, because nothing is known that could be priced. */
  | { readonly kind: 'held'; readonly amount: Micros }
  /** The least that the request can cost, charged because nothing is known that could be priced. */
  | { readonly kind: 'least'; readonly amount: Micros }
  /** Of the images asked for, the share that arrived, half up. */
  | { readonly kind: 'share'; readonly quantity: Quantity; readonly amount: Micros }
  /** At most this. */
  | { readonly kind: 'limit'; readonly limit: Micros; readonly amount: Micros };

/** A step as the ledger keeps it: money as decimal text, a quantity as `numerator/denominator`. */
export type WrittenStep =
  | { readonly kind: 'sum' | 'held' | 'least'; readonly amount: string }
  | { readonly kind: 'minimum'; readonly minimum: string; readonly amount: string }
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: string }
  | { readonly kind: 'share'; readonly quantity: string; readonly amount: string }
  | { readonly kind: 'limit'; readonly limit: string; readonly amount: string };

/**
 * The source of a fact that the request does not name. `default`: the model's entry. `open`: the request leaves it
 * open, and the dearest value is assumed. `upstream`: the upstream's report. `measured`: the stored result.
 */
export const factSources = ['default', 'open', 'upstream', 'measured'] as const;
export type FactSource = (typeof factSources)[number];

/**
 * The source of a count. `formula`: the adapter derived it from the resolution, ratio and length of the output.
 * `assumed`: unknown, so the highest possible count is held and nothing is charged.
 */
export const countSources = [
  'request',
  'default',
  'open',
  'formula',
  'measured',
  'upstream',
  'assumed',
] as const;
export type CountSource = (typeof countSources)[number];

/** A charged line as the ledger stores it. */
export interface WrittenLine {
  /** Index into the lines of the price. */
  readonly line: number;
  readonly measure: Measure;
  readonly price: string;
  /** `numerator/denominator` */
  readonly quantity: string;
  /** The free part of the quantity, in the same form. Undefined: none of it is free. */
  readonly free?: string;
  readonly source: CountSource;
  /** The facts of a group of images, if groups differ. */
  readonly of?: PriceFacts;
  /** The number of images that megapixels are counted for. Undefined: one. */
  readonly images?: number;
  /** The exact amount. Only the sum is rounded. */
  readonly amount: string;
}

/** How an amount has come about, as the ledger's entry keeps it. JSON-safe. */
export interface Reckoning {
  /** Whether the price is the model's, or the channel's own. */
  readonly rules_of: 'model' | 'channel';
  /** The facts that the lines could test, including the channel. */
  readonly facts: PriceFacts;
  /** Of those facts that the request does not name. */
  readonly sources: { readonly [Fact in keyof PriceFacts]?: FactSource };
  /**
   * The length of the output that the formula was applied to, in seconds. Undefined if no formula was used, or the
   * length is unknown.
   */
  readonly seconds?: number;
  /** Of the videos that were given, as measured; absent: there are none, or the most that may be given is assumed. */
  readonly input_seconds?: number;
  /** Empty if nothing could be priced. */
  readonly lines: readonly WrittenLine[];
  /** The steps from the lines to the final amount, which is that of the last step. */
  readonly steps: readonly WrittenStep[];
}

export function isMore(one: Quantity, other: Quantity): boolean {
  return one.numerator * other.denominator > other.numerator * one.denominator;
}

export function writeQuantity({ numerator, denominator }: Quantity): string {
  return `${numerator}/${denominator}`;
}

/** Undefined: it is none. */
export function readQuantity(written: string): Quantity | undefined {
  const [, numerator, denominator] = /^(\d{1,40})\/([1-9]\d{0,39})$/.exec(written) ?? [];
  if (numerator === undefined || denominator === undefined) return undefined;
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}

/** Decimal places of an exact amount: millionths of a micro-unit. */
const exactPlaces = 12;

export function writeLine({ price, quantity, free, exact, ...line }: ChargedLine): WrittenLine {
  const { denominator } = quantity;
  return {
    ...line,
    price: formatMicros(price),
    quantity: writeQuantity(quantity),
    ...(free === 0n ? {} : { free: writeQuantity({ numerator: free, denominator }) }),
    amount: formatDecimal(shifted(exactPlaces, { digits: exact, places: 0 })),
  };
}

export function writeStep(step: Step): WrittenStep {
  const amount = formatMicros(step.amount);
  switch (step.kind) {
    case 'sum':
    case 'held':
    case 'least':
      return { kind: step.kind, amount };
    case 'minimum':
      return { kind: 'minimum', minimum: formatMicros(step.minimum), amount };
    case 'multiplier':
      return { kind: 'multiplier', multiplier: step.multiplier, amount };
    case 'share':
      return { kind: 'share', quantity: writeQuantity(step.quantity), amount };
    case 'limit':
      return { kind: 'limit', limit: formatMicros(step.limit), amount };
  }
}
