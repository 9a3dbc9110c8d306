import { addAmounts } from './decimal.ts';
import { divideHalfUp, parseMicros } from './money.ts';
import type { Micros } from './money.ts';

/**
 * What a job cost the operator, as reported by the vendor. A fact for the record: callers are charged by our own
 * prices.
 */
export interface Cost {
  /** An exact decimal number, never a float: `0.035`, `12`. */
  readonly amount: string;
  /** A currency code, or the vendor's own unit: `USD`, `credits`. */
  readonly unit: string;
}

/** What several calls cost together; undefined unless each of them reported it, and all in the same unit. */
export function sumCosts(costs: readonly (Cost | undefined)[]): Cost | undefined {
  const [first, ...others] = costs;
  if (first === undefined) return undefined;
  let { amount } = first;
  for (const other of others) {
    if (other?.unit !== first.unit) return undefined;
    amount = addAmounts(amount, other.amount);
  }
  return { amount, unit: first.unit };
}

/** What a reported cost is worth in micro-units, half up; undefined: nothing says what its unit is worth. */
export function worthOf(
  { amount, unit }: Cost,
  worths: Readonly<Record<string, string>>,
): Micros | undefined {
  const worth = parseMicros(worths[unit] ?? '');
  const [whole = '', fraction = ''] = amount.split('.');
  if (worth === undefined || !/^\d+$/.test(whole + fraction)) return undefined;
  return divideHalfUp(BigInt(whole + fraction) * worth, 10n ** BigInt(fraction.length));
}
