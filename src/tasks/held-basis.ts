import { z } from 'zod';
import type { PriceBasis } from '../domain/price.ts';

/** Written by ourselves: only its presence is checked. */
const storedBasis = z.custom<PriceBasis>(
  (value) => typeof value === 'object' && value !== null && 'price' in value,
);

/** The basis that a hold was taken with, from its ledger entry; undefined: the entry has none. */
export function heldBasis(text: string | undefined): PriceBasis | undefined {
  return text === undefined ? undefined : storedBasis.safeParse(JSON.parse(text)).data;
}
