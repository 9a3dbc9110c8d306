/** The exact number `digits` × 10^-`places`, for amounts in any unit. */
export interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const pattern = /^([+-]?)(\d{1,30})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;
const placesMax = 60;

/** Accepts `-1.50`, and also `1e-06`, which programs often write for small numbers. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const places = fraction.length - Number(exponent);
  if (places > placesMax) return undefined;
  return shortest(places < 0 ? { digits: digits * 10n ** BigInt(-places), places: 0 } : { digits, places });
}

export function addDecimals(one: Decimal, other: Decimal): Decimal {
  const places = Math.max(one.places, other.places);
  return shortest({ digits: digitsAt(one, places) + digitsAt(other, places), places });
}

export function addAmounts(one: string, other: string): string {
  const [a, b] = [one, other].map(parseDecimal);
  if (a === undefined || b === undefined) throw new TypeError('an amount must be a decimal number');
  return formatDecimal(addDecimals(a, b));
}

export function negated({ digits, places }: Decimal): Decimal {
  return { digits: -digits, places };
}

export function compareDecimals(one: Decimal, other: Decimal): number {
  const { digits } = addDecimals(one, negated(other));
  return digits < 0n ? -1 : digits > 0n ? 1 : 0;
}

/** Rounds exact halves away from zero. */
export function roundedTo(places: number, { digits, places: had }: Decimal): Decimal {
  if (had <= places) return { digits, places: had };
  const divisor = 10n ** BigInt(had - places);
  const magnitude = ((digits < 0n ? -digits : digits) * 2n + divisor) / (divisor * 2n);
  return shortest({ digits: digits < 0n ? -magnitude : magnitude, places });
}

export function shifted(places: number, one: Decimal): Decimal {
  return shortest({ digits: one.digits, places: one.places + places });
}

export function formatDecimal({ digits, places }: Decimal): string {
  const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  const sign = digits < 0n ? '-' : '';
  return places === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}

function digitsAt({ digits, places }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - places);
}

function shortest({ digits, places }: Decimal): Decimal {
  let [short, left] = [digits, places];
  while (left > 0 && short % 10n === 0n) [short, left] = [short / 10n, left - 1];
  return { digits: short, places: left };
}
