import { formatDecimal, shifted } from './decimal.ts';
import { formatMicros, type Micros } from './money.ts';
import type { Measure } from './measures.ts';
import type { ChargedLine, PriceFacts } from './price.ts';

export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Each step starts from the previous step's amount. The last amount is the charge. */
export type Step =
  | { readonly kind: 'sum'; readonly amount: Micros }
  | { readonly kind: 'minimum'; readonly minimum: Micros; readonly amount: Micros }
  | { readonly kind: 'factor'; readonly factor: string; readonly amount: Micros }
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: Micros }
  /** Charges the hold, because no usage figure can be priced. */
  | { readonly kind: 'held'; readonly amount: Micros }
  /** Charges the request's minimum price, because no usage figure that we trust can be priced. */
  | { readonly kind: 'least'; readonly amount: Micros }
  /** Reduces the amount to the share of requested images that arrived, rounded half up. */
  | { readonly kind: 'share'; readonly quantity: Quantity; readonly amount: Micros }
  | { readonly kind: 'limit'; readonly limit: Micros; readonly amount: Micros };

export type WrittenStep =
  | { readonly kind: 'sum' | 'held' | 'least'; readonly amount: string }
  | { readonly kind: 'minimum'; readonly minimum: string; readonly amount: string }
  | { readonly kind: 'factor'; readonly factor: string; readonly amount: string }
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: string }
  | { readonly kind: 'share'; readonly quantity: string; readonly amount: string }
  | { readonly kind: 'limit'; readonly limit: string; readonly amount: string };

/**
 * Where a fact comes from if the request does not specify it.
 * - `default`: the model's configuration.
 * - `open`: no source. The most expensive value is assumed.
 * - `upstream`: the upstream's report.
 * - `measured`: the stored result.
 */
export const factSources = ['default', 'open', 'upstream', 'measured'] as const;
export type FactSource = (typeof factSources)[number];

/**
 * `formula` means that the adapter derived the count from the output's resolution, ratio and length. `assumed` means
 * that the count is unknown, so the highest possible one is held but not charged.
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

export interface WrittenLine {
  readonly line: number;
  readonly measure: Measure;
  readonly price: string;
  readonly quantity: string;
  readonly free?: string;
  readonly source: CountSource;
  readonly of?: PriceFacts;
  readonly images?: number;
  readonly amount: string;
}

export interface Reckoning {
  readonly rules_of: 'model' | 'channel';
  readonly facts: PriceFacts;
  readonly sources: { readonly [Fact in keyof PriceFacts]?: FactSource };
  /** The output length used in the formula. Undefined if no formula was applied or the length is unknown. */
  readonly seconds?: number;
  /** The measured length of the input videos. Undefined if there are none or their length is unknown. */
  readonly input_seconds?: number;
  readonly lines: readonly WrittenLine[];
  readonly steps: readonly WrittenStep[];
}

export function isMore(one: Quantity, other: Quantity): boolean {
  return one.numerator * other.denominator > other.numerator * one.denominator;
}

export function writeQuantity({ numerator, denominator }: Quantity): string {
  return `${numerator}/${denominator}`;
}

export function readQuantity(written: string): Quantity | undefined {
  const [, numerator, denominator] = /^(\d{1,40})\/([1-9]\d{0,39})$/.exec(written) ?? [];
  if (numerator === undefined || denominator === undefined) return undefined;
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}

const exactPlaces = 12;

export function writeLine({ price, quantity, free, exact, ...line }: ChargedLine): WrittenLine {
  return {
    ...line,
    price: formatMicros(price),
    quantity: writeQuantity(quantity),
    ...(free.numerator === 0n ? {} : { free: writeQuantity(free) }),
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
