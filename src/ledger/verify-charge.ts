import { createRecent, type Recent } from '../base/recent.ts';
import { chargeAgain, type Charged } from '../money/charge-again.ts';
import { closedAt, heldBasis, readSettleReckoning } from '../money/ledger-basis.ts';
import type { Micros } from '../money/money.ts';
import type { PriceBasis } from '../money/price.ts';
import type { EntryDocument } from './entry.ts';

/** Similar requests have the same prices and the same result, so a small cache suffices. */
const textsMax = 1_000;

interface Frozen {
  readonly basis: PriceBasis | undefined;
  readonly charges: Recent<{ readonly amount: Micros | undefined }>;
}

export type ChargeCheck = (entry: EntryDocument) => string | undefined;

/** Checks that each charge follows from the prices stored with its hold. Create one check per account. */
export function createChargeCheck(): ChargeCheck {
  const frozen = createRecent<Frozen>(textsMax);
  const open = new Map<string, { readonly held: Micros; readonly prices: Frozen }>();

  function pricesOf(text: string): Frozen {
    const known = frozen.get(text);
    if (known !== undefined) return known;
    const prices = {
      basis: heldBasis(text),
      charges: createRecent<{ amount: Micros | undefined }>(textsMax),
    };
    frozen.set(text, prices);
    return prices;
  }

  return (entry) => {
    const { kind, task = '', amount } = entry;
    if (kind === 'hold') {
      const prices = pricesOf(`${entry.basis ?? ''}`);
      open.set(task, { held: amount, prices });
      return prices.basis === undefined ? 'this hold contains no prices' : undefined;
    }
    if (kind !== 'settle' && kind !== 'release') return undefined;
    const hold = open.get(task);
    open.delete(task);
    if (kind === 'release' || hold?.prices.basis === undefined) return undefined;
    const right = chargeBy({ ...hold.prices, basis: hold.prices.basis }, hold.held, `${entry.basis ?? ''}`);
    const charged = closedAt(entry);
    if (right === charged) return undefined;
    return right === undefined
      ? `charges ${charged}, but its record does not explain the amount`
      : `charges ${charged}, but the prices of its hold come to ${right}`;
  };
}

function chargeBy(
  { basis, charges }: Frozen & { readonly basis: PriceBasis },
  held: Micros,
  text: string,
): Micros | undefined {
  const key = `${held}/${text}`;
  const known = charges.get(key);
  if (known !== undefined) return known.amount;
  const reckoning = readSettleReckoning(text);
  const amount = reckoning === undefined ? undefined : chargeIfPossible({ basis, reckoning, held });
  charges.set(key, { amount });
  return amount;
}

/** Returns undefined if the calculation throws, as it may after manual edits of the stored prices. */
function chargeIfPossible(charged: Charged): Micros | undefined {
  try {
    return chargeAgain(charged);
  } catch {
    return undefined;
  }
}
