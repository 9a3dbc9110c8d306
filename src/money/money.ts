/**
 * Money: integer micro-units (10^-6) of the configured currency, bigint in code, decimal strings in JSON.
 * There is one rounding rule, half up (away from zero at exactly one half), applied once, at the end.
 */
export type Micros = bigint;

export const microsPerUnit = 1_000_000n;
const decimalPattern = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;

/** `"7.5"` → 7_500_000n; undefined if it is not a decimal of at most 12 digits and 6 places. */
export function parseMicros(text: string): Micros | undefined {
  const match = decimalPattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '0', fraction = ''] = match;
  const magnitude = BigInt(whole) * microsPerUnit + BigInt(fraction.padEnd(6, '0'));
  return sign === '-' ? -magnitude : magnitude;
}

/** 7_500_000n → `"7.500000"`: always six places. */
export function formatMicros(amount: Micros): string {
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % microsPerUnit).toString().padStart(6, '0');
  return `${amount < 0n ? '-' : ''}${magnitude / microsPerUnit}.${fraction}`;
}

/** `0.762300 USD`, from 762_300n. */
export function formatAmount(amount: Micros, currency: string): string {
  return `${formatMicros(amount)} ${currency}`;
}

/** numerator / denominator, half up. Both are non-negative, the denominator is positive. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  if (numerator < 0n || denominator <= 0n) throw new RangeError('divideHalfUp requires n >= 0 and d > 0');
  return (numerator * 2n + denominator) / (denominator * 2n);
}

/**
 * What one entry of the ledger may hold, and what credits may bring an account to, above zero or below: 10^12 currency
 * units, far from int64's end, so that what is held can always be settled or given back.
 */
export const amountMax: Micros = 10n ** 18n;
