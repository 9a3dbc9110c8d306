import { defined } from '../base/defined.ts';
import { divideHalfUp, parseMicros, type Micros } from './money.ts';
import { chargeOf, priceAt } from './price.ts';
import type { Charge, Count, Part, Price, PriceBasis } from './price.ts';
import { readQuantity, type Reckoning, type WrittenLine } from './reckoning.ts';
import { leastOf } from './settle.ts';

export interface Charged {
  readonly basis: PriceBasis;
  readonly reckoning: Reckoning;
  readonly held: Micros;
}

/**
 * Repeats a recorded calculation with the same prices, facts and counts, to verify the amount. Returns undefined if
 * they yield no charge.
 */
export function chargeAgain({ basis, reckoning, held }: Charged): Micros | undefined {
  let amount = firstAmount({ basis, reckoning, held });
  for (const step of reckoning.steps) {
    if (amount === undefined) return undefined;
    if (step.kind === 'share') {
      const share = readQuantity(step.quantity);
      const least = leastOf(basis, held);
      amount = share === undefined ? undefined : divideHalfUp(least * share.numerator, share.denominator);
    }
    // Only the hold can limit a charge, so any other recorded limit is an error.
    else if (step.kind === 'limit') amount = parseMicros(step.limit) === held ? held : undefined;
  }
  return amount;
}

function firstAmount({ basis, reckoning, held }: Charged): Micros | undefined {
  const [first] = reckoning.steps;
  if (first?.kind === 'held') return basis.least === undefined ? held : undefined;
  if (first?.kind === 'least') return leastOf(basis, held);
  const price = priceAt(basis, reckoning.facts.channel ?? '');
  const charge = chargeLinesAgain(price, reckoning);
  return charge !== undefined && isSame(charge, reckoning.lines) ? charge.amount : undefined;
}

export function chargeLinesAgain(
  price: Pick<Price, 'lines' | 'minimum' | 'factor'>,
  { facts, lines }: Pick<Reckoning, 'facts' | 'lines'>,
): Charge | undefined {
  const parts = new Map<string, Part>();
  for (const line of lines) {
    const { of, measure } = line;
    const key = JSON.stringify(of ?? null);
    const part = parts.get(key) ?? {
      facts: { ...facts, ...of },
      counts: {},
      ...(of === undefined ? {} : { of }),
    };
    const count = countOf(line);
    if (count === undefined) return undefined;
    parts.set(key, {
      ...part,
      ...defined({ images: line.images }),
      counts: { ...part.counts, [measure]: count },
    });
  }
  return chargeOf(price, [...parts.values()]);
}

function countOf({ quantity: written, source }: WrittenLine): Count | undefined {
  const quantity = readQuantity(written);
  return quantity === undefined ? undefined : { quantity, source };
}

function isSame({ lines }: Charge, written: readonly WrittenLine[]): boolean {
  const keyOf = ({ line, of }: Pick<WrittenLine, 'line' | 'of'>) => `${line} ${JSON.stringify(of ?? null)}`;
  const again = new Set(lines.map(keyOf));
  return again.size === written.length && written.every((line) => again.has(keyOf(line)));
}
