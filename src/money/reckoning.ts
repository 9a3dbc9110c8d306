import { formatDecimal, shifted } from './decimal.ts';
import { formatMicros } from './money.ts';
import type { Micros } from './money.ts';
import type { Measure } from './measures.ts';
import type { ChargedLine, PriceFacts } from './price.ts';

/** A measure's exact quantity as a fraction, for example tokens / 1,000,000, milliseconds / 1,000 or images / 1. */
export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** One step in the calculation from the lines to the final amount. Each step starts from the previous amount. */
export type Step =
  /** The sum of the lines, rounded half up. */
  | { readonly kind: 'sum'; readonly amount: Micros }
  /** Raised to this minimum. */
  | { readonly kind: 'minimum'; readonly minimum: Micros; readonly amount: Micros }
  /** Multiplied by the account's factor and rounded half up. */
  | { readonly kind: 'factor'; readonly factor: string; readonly amount: Micros }
  /** Multiplied by the model entry's surcharge on the hold, a decimal, and rounded half up. */
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: Micros }
  /** The hold, because no known fact has a price. */
  | { readonly kind: 'held'; readonly amount: Micros }
  /** The request's minimum cost, because no known fact has a price. */
  | { readonly kind: 'least'; readonly amount: Micros }
  /** Reduced to the share of the requested images that arrived, rounded half up. */
  | { readonly kind: 'share'; readonly quantity: Quantity; readonly amount: Micros }
  /** Capped at this limit. */
  | { readonly kind: 'limit'; readonly limit: Micros; readonly amount: Micros };

/** A step as stored in the ledger, with money as decimal text and quantities as `numerator/denominator`. */
export type WrittenStep =
  | { readonly kind: 'sum' | 'held' | 'least'; readonly amount: string }
  | { readonly kind: 'minimum'; readonly minimum: string; readonly amount: string }
  | { readonly kind: 'factor'; readonly factor: string; readonly amount: string }
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: string }
  | { readonly kind: 'share'; readonly quantity: string; readonly amount: string }
  | { readonly kind: 'limit'; readonly limit: string; readonly amount: string };

/**
 * The source of a fact that the request does not specify. `default`: the model's entry. `open`: the request leaves it
 * open, so the most expensive value is assumed. `upstream`: the upstream's report. `measured`: the stored result.
 */
export const factSources = ['default', 'open', 'upstream', 'measured'] as const;
export type FactSource = (typeof factSources)[number];

/**
 * The source of a count. `formula`: the adapter derived it from the output's resolution, ratio and length. `assumed`:
 * unknown, so the highest possible count is held but not charged.
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

/** A charged line as stored in the ledger. */
export interface WrittenLine {
  /** The index into the price's lines. */
  readonly line: number;
  readonly measure: Measure;
  readonly price: string;
  /** The quantity as `numerator/denominator`. */
  readonly quantity: string;
  /** The free part of the quantity, in the same form. Undefined if there is none. */
  readonly free?: string;
  readonly source: CountSource;
  /** The facts of a group of images, if groups differ. */
  readonly of?: PriceFacts;
  /** The number of images for which megapixels are counted. Undefined if there is only one. */
  readonly images?: number;
  /** The exact amount. Only the sum is rounded. */
  readonly amount: string;
}

/** How an amount was calculated, as stored in the ledger entry. JSON-safe. */
export interface Reckoning {
  /** Whether the model's price or the channel's own price was applied. */
  readonly rules_of: 'model' | 'channel';
  /** All facts that the lines can test, including the channel. */
  readonly facts: PriceFacts;
  /** The sources of facts that the request does not specify. */
  readonly sources: { readonly [Fact in keyof PriceFacts]?: FactSource };
  /**
   * The output length in seconds to which the formula was applied. Undefined if no formula was applied or the length is
   * unknown.
   */
  readonly seconds?: number;
  /** The measured length of the input videos, in seconds. Absent if there are none or it is unknown. */
  readonly input_seconds?: number;
  /** The charged lines. Empty if nothing had a price. */
  readonly lines: readonly WrittenLine[];
  /** The steps from the lines to the final amount, which the last step contains. */
  readonly steps: readonly WrittenStep[];
}

export function isMore(one: Quantity, other: Quantity): boolean {
  return one.numerator * other.denominator > other.numerator * one.denominator;
}

export function writeQuantity({ numerator, denominator }: Quantity): string {
  return `${numerator}/${denominator}`;
}

/** Parses a quantity. Returns undefined if the text is not one. */
export function readQuantity(written: string): Quantity | undefined {
  const [, numerator, denominator] = /^(\d{1,40})\/([1-9]\d{0,39})$/.exec(written) ?? [];
  if (numerator === undefined || denominator === undefined) return undefined;
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}

/** The number of decimal places in an exact amount (millionths of a micro-unit). */
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
    case 'factor':
      return { kind: 'factor', factor: step.factor, amount };
    case 'multiplier':
      return { kind: 'multiplier', multiplier: step.multiplier, amount };
    case 'share':
      return { kind: 'share', quantity: writeQuantity(step.quantity), amount };
    case 'limit':
      return { kind: 'limit', limit: formatMicros(step.limit), amount };
  }
}
