import { addAmounts } from './decimal.ts';
import { divideHalfUp, parseMicros, type Micros } from './money.ts';

export interface Cost {
  /** An exact decimal such as `0.035`, never a float. */
  readonly amount: string;
  readonly unit: string;
}

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

/** Returns micro-units, rounded half up, or undefined if the unit's value is unknown. */
export function worthOf(
  { amount, unit }: Cost,
  worths: Readonly<Record<string, string>>,
): Micros | undefined {
  const worth = parseMicros(worths[unit] ?? '');
  const [whole = '', fraction = ''] = amount.split('.');
  if (worth === undefined || !/^\d+$/.test(whole + fraction)) return undefined;
  return divideHalfUp(BigInt(whole + fraction) * worth, 10n ** BigInt(fraction.length));
}
