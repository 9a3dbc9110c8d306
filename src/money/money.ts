/**
 * Integer micro-units (10^-6) of the configured currency: bigint in code, decimal strings in JSON. Amounts are rounded
 * only once, at the end, and always half up (away from zero).
 */
export type Micros = bigint;

export const microsPerUnit = 1_000_000n;
const decimalPattern = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Parses `"7.5"` as 7_500_000n. Accepts decimals with at most 12 digits and 6 places. */
export function parseMicros(text: string): Micros | undefined {
  const match = decimalPattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '0', fraction = ''] = match;
  const magnitude = BigInt(whole) * microsPerUnit + BigInt(fraction.padEnd(6, '0'));
  return sign === '-' ? -magnitude : magnitude;
}

export function formatMicros(amount: Micros): string {
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % microsPerUnit).toString().padStart(6, '0');
  return `${amount < 0n ? '-' : ''}${magnitude / microsPerUnit}.${fraction}`;
}

export function sixPlaces(decimal: string): string {
  return formatMicros(parseMicros(decimal) ?? 0n);
}

export function formatAmount(amount: Micros, currency: string): string {
  return `${formatMicros(amount)} ${currency}`;
}

export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  if (numerator < 0n || denominator <= 0n) throw new RangeError('divideHalfUp requires n >= 0 and d > 0');
  return (numerator * 2n + denominator) / (denominator * 2n);
}

/**
 * 10^12 currency units. This limits an entry, and the balance or debt after a credit. It is far below the int64 limit,
 * so holds can always be settled or released.
 */
export const amountMax: Micros = 10n ** 18n;
