import { divideHalfUp, parseMicros } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import { priceAt, priceOf } from '../money/price.ts';
import type { PriceBasis } from '../money/price.ts';
import { readQuantity } from '../money/reckoning.ts';
import type { Reckoning } from '../money/reckoning.ts';

export interface Charged {
  /** As the hold froze it. */
  readonly basis: PriceBasis;
  /** As the settlement recorded it. */
  readonly reckoning: Reckoning;
  /** The hold in micro-units. */
  readonly held: Micros;
}

/**
 * What a settlement must have come to: the frozen prices, applied once more to the facts and the quantity that it
 * recorded. Undefined: no charge follows from what it recorded.
 */
export function chargeAgain({ basis, reckoning, held }: Charged): Micros | undefined {
  let amount = reckoning.measured === 'hold' ? held : priced(basis, reckoning);
  for (const step of reckoning.steps) {
    if (amount === undefined) return undefined;
    if (step.kind === 'share') {
      const share = readQuantity(step.quantity);
      amount = share === undefined ? undefined : divideHalfUp(held * share.numerator, share.denominator);
    }
    // Nothing limits a charge but its hold.
    else if (step.kind === 'limit') amount = parseMicros(step.limit) === held ? held : undefined;
  }
  return amount;
}

function priced(basis: PriceBasis, { facts, rule, quantity: written }: Reckoning): Micros | undefined {
  const quantity = readQuantity(written ?? '');
  if (quantity === undefined) return undefined;
  const charge = priceOf(priceAt(basis, facts.channel ?? ''), facts, quantity);
  return charge?.rule === rule ? charge?.amount : undefined;
}
