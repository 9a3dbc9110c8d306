import { formatDecimal, shifted } from './decimal.ts';
import { formatMicros } from './money.ts';
import type { Micros } from './money.ts';
import type { Measure } from './measures.ts';
import type { ChargedLine, PriceFacts } from './price.ts';

/** Exact quantity of a measure: numerator / denominator (tokens / 1,000,000; milliseconds / 1,000; images / 1). */
export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** One step from the lines to the amount, and what it leads to. Each begins with the amount of the one before. */
export type Step =
  /** The lines, added up and rounded half up. */
  | { readonly kind: 'sum'; readonly amount: Micros }
  /** At least this. */
  | { readonly kind: 'minimum'; readonly minimum: Micros; readonly amount: Micros }
  /** Times a decimal, half up: what a model's entry adds to a hold. */
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: Micros }
  /** The hold, because nothing is known that could be priced. */
  | { readonly kind: 'held'; readonly amount: Micros }
  /** The least that the request can come to, because nothing is known that could be priced. */
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
 * Where a fact comes from that the request does not name. `open`: left open, and assumed as dear as it can be. `upstream`:
 * its report. `measured`: the stored result.
 */
export const factSources = ['default', 'open', 'upstream', 'measured'] as const;
export type FactSource = (typeof factSources)[number];

/**
 * What a count was taken from. `formula`: derived, by the adapter, from the resolution, ratio and length of the output.
 * `assumed`: nobody knows it; the most that is possible is held, and nothing is charged.
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

/** A line of a price, as the ledger keeps what it came to. */
export interface WrittenLine {
  /** Index into the lines of the price. */
  readonly line: number;
  readonly measure: Measure;
  readonly price: string;
  /** `numerator/denominator` */
  readonly quantity: string;
  /** What of the quantity costs nothing, in the same way; absent: nothing of it. */
  readonly free?: string;
  readonly source: CountSource;
  /** Of images that differ from others: what they are. */
  readonly of?: PriceFacts;
  /** That megapixels are of; absent: one. */
  readonly images?: number;
  /** Exact: nothing is rounded before the sum. */
  readonly amount: string;
}

/** How an amount has come about, as the ledger's entry keeps it. JSON-safe. */
export interface Reckoning {
  /** Whose price: the model's, or the one that the channel has of its own. */
  readonly rules_of: 'model' | 'channel';
  /** What the lines could test, the channel among it. */
  readonly facts: PriceFacts;
  /** Of those facts that the request does not name. */
  readonly sources: { readonly [Fact in keyof PriceFacts]?: FactSource };
  /** Seconds of the output that a formula was applied to; absent: none was, or nothing names them. */
  readonly seconds?: number;
  /** Of the videos that were given, as measured; absent: there are none, or the most that may be given is assumed. */
  readonly input_seconds?: number;
  /** Empty: nothing could be priced. */
  readonly lines: readonly WrittenLine[];
  /** From the lines to the result, which is the last one's amount. */
  readonly steps: readonly WrittenStep[];
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

/** Of an exact amount: millionths of a micro-unit. */
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
