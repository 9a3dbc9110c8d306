import { canonicalJson } from '../base/canonical-json.ts';
import { divideHalfUp, type Micros } from './money.ts';
import type { PriceBasis } from './price.ts';

export const shapeChargesMin = 3;
export const shapeChargesMax = 32;

export function chargeShape(
  model: string,
  { price, channels, factor, facts, most, bounds }: PriceBasis,
): string {
  const given = Object.entries(bounds ?? {}).filter(([, { source }]) => source === 'request');
  const images = most?.images;
  return canonicalJson({ model, price, channels, factor, facts, images, given: Object.fromEntries(given) });
}

export function expectedCharge(charges: readonly Micros[]): Micros | undefined {
  if (charges.length < shapeChargesMin) return undefined;
  const sorted = charges.toSorted((one, other) => (one < other ? -1 : Number(one > other)));
  const [low = 0n, high = 0n] = [(sorted.length - 1) / 2, sorted.length / 2].map(
    (place) => sorted[Math.floor(place)],
  );
  return divideHalfUp(low + high, 2n);
}
