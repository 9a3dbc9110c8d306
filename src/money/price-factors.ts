import { formatDecimal, parseDecimal } from './decimal.ts';
import { parseMicros } from './money.ts';

/**
 * List prices are multiplied by these factors, which are decimal text without trailing zeros. `0.9` is a discount of
 * ten per cent.
 */
export interface PriceFactors {
  /** Undefined if the account pays list prices. */
  readonly all?: string;
  readonly models: ReadonlyMap<string, string>;
}

export const noFactors: PriceFactors = { models: new Map() };

const factorMax = 100n * 1_000_000n;

export function parseFactor(text: string): string | undefined {
  const micros = parseMicros(text);
  const decimal = parseDecimal(text);
  if (micros === undefined || decimal === undefined || micros < 0n || micros > factorMax) return undefined;
  return formatDecimal(decimal);
}

export function factorFor({ all, models }: PriceFactors, model: string): string | undefined {
  const factor = models.get(model) ?? all;
  return factor === '1' ? undefined : factor;
}
