import { formatMicros } from './money.ts';
import type { Micros } from './money.ts';
import type { PriceFacts, PriceUnit } from './price.ts';

/** Exact quantity of price units: numerator / denominator (tokens / 1,000,000; milliseconds / 1,000; images / 1). */
export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** One step of a price's computation, and the amount that it leads to. Each begins with the amount of the one before. */
export type Step =
  /** Unit price × quantity, half up. */
  | {
      readonly kind: 'price';
      readonly price: Micros;
      readonly quantity: Quantity;
      readonly amount: Micros;
    }
  /** At least this. */
  | { readonly kind: 'minimum'; readonly minimum: Micros; readonly amount: Micros }
  /** Times a decimal, half up: what a model's entry adds to a hold. */
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: Micros }
  /** The hold, because nothing is known that could be priced. */
  | { readonly kind: 'held'; readonly amount: Micros }
  /** Of the images asked for, the share that arrived, half up. */
  | { readonly kind: 'share'; readonly quantity: Quantity; readonly amount: Micros }
  /** At most this. */
  | { readonly kind: 'limit'; readonly limit: Micros; readonly amount: Micros };

/** A step as the ledger keeps it: money as decimal text, a quantity as `numerator/denominator`. */
export type WrittenStep =
  | { readonly kind: 'price'; readonly price: string; readonly quantity: string; readonly amount: string }
  | { readonly kind: 'minimum'; readonly minimum: string; readonly amount: string }
  | { readonly kind: 'multiplier'; readonly multiplier: string; readonly amount: string }
  | { readonly kind: 'held'; readonly amount: string }
  | { readonly kind: 'share'; readonly quantity: string; readonly amount: string }
  | { readonly kind: 'limit'; readonly limit: string; readonly amount: string };

/** Where a fact comes from that the request does not name. `open`: left open, and assumed as dear as it can be. */
export const factSources = ['default', 'open', 'upstream'] as const;
type FactSource = (typeof factSources)[number];

/** What a quantity was taken from. `formula`: the adapter's, on the resolution, ratio and length of the output. */
export const quantitySources = ['request', 'default', 'open', 'formula', 'upstream', 'hold'] as const;
type QuantitySource = (typeof quantitySources)[number];

/** How an amount has come about, as the ledger's entry keeps it. JSON-safe. */
export interface Reckoning {
  readonly unit: PriceUnit;
  /** Whose rules: the model's, or those that the channel has of its own. */
  readonly rules_of: 'model' | 'channel';
  /** Index into the rules; absent: none was applied. */
  readonly rule?: number;
  /** What the rules could test, the channel among it. */
  readonly facts: PriceFacts;
  /** Of those facts that the request does not name. */
  readonly sources: { readonly [Fact in keyof PriceFacts]?: FactSource };
  /** Seconds of the output that the quantity is for; absent: it does not depend on them, or nothing names them. */
  readonly seconds?: number;
  /** Of the videos that were given, as measured; absent: there are none, or the most that may be given is assumed. */
  readonly input_seconds?: number;
  /** In price units, `numerator/denominator`; absent: none was known. */
  readonly quantity?: string;
  readonly measured: QuantitySource;
  /** The last one's amount is the result. */
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

export function writeStep(step: Step): WrittenStep {
  const amount = formatMicros(step.amount);
  switch (step.kind) {
    case 'price':
      return {
        kind: 'price',
        price: formatMicros(step.price),
        quantity: writeQuantity(step.quantity),
        amount,
      };
    case 'minimum':
      return { kind: 'minimum', minimum: formatMicros(step.minimum), amount };
    case 'multiplier':
      return { kind: 'multiplier', multiplier: step.multiplier, amount };
    case 'held':
      return { kind: 'held', amount };
    case 'share':
      return { kind: 'share', quantity: writeQuantity(step.quantity), amount };
    case 'limit':
      return { kind: 'limit', limit: formatMicros(step.limit), amount };
  }
}
