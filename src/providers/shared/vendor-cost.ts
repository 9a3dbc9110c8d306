import { z } from 'zod';
import type { Cost } from '../../money/cost.ts';

/**
 * Allows as many digits on each side of the decimal point as vendors report. A longer number, or one with an exponent,
 * is not a price.
 */
const decimalPattern = /^\d{1,15}(?:\.\d{1,15})?$/;

export const optionalAmount = z
  .union([z.number().transform(String), z.string()])
  .pipe(z.string().regex(decimalPattern))
  .optional()
  .catch(undefined);

/** Returns undefined for zero, because vendors send it before they know the cost. */
export function vendorCost(amount: string | undefined, unit: string): Cost | undefined {
  return amount !== undefined && /[1-9]/.test(amount) ? { amount, unit } : undefined;
}

export function costOfUnits(units: unknown, price: string, unit: string): Cost | undefined {
  const count = optionalAmount.parse(units);
  return count === undefined ? undefined : vendorCost(multiplyDecimals(count, price), unit);
}

/** Multiplies exactly, because money must never become a float. */
function multiplyDecimals(one: string, other: string): string {
  const [a, b] = [one, other].map((text) => {
    const [whole = '0', fraction = ''] = text.split('.');
    return { digits: BigInt(whole + fraction), places: fraction.length };
  });
  const places = (a?.places ?? 0) + (b?.places ?? 0);
  const digits = ((a?.digits ?? 0n) * (b?.digits ?? 0n)).toString().padStart(places + 1, '0');
  const fraction = places === 0 ? '' : digits.slice(-places).replace(/0+$/, '');
  const whole = places === 0 ? digits : digits.slice(0, -places);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
