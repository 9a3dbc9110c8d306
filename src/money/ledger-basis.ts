import { z } from 'zod';
import type { Micros } from './money.ts';
import { parseJson } from '../base/parse-json.ts';
import { priceUnits } from './price.ts';
import type { PriceBasis, PriceFacts } from './price.ts';
import { factSources, quantitySources } from './reckoning.ts';
import type { Reckoning } from './reckoning.ts';

/** What the ledger's entries keep of prices. An entry's text is not bound to be JSON of ours. */

const price = z.object({
  unit: z.enum(priceUnits),
  minimum: z.string(),
  rules: z.array(z.object({ price: z.string() })),
});
const frozen = z.object({
  price,
  channels: z.record(z.string(), price).exactOptional(),
  facts: z.record(z.string(), z.unknown()),
  sizes: z.record(z.string(), z.string()).exactOptional(),
  input_seconds: z.number().exactOptional(),
  most: z
    .object({
      seconds: z.number().exactOptional(),
      images: z.int().positive().exactOptional(),
      open: z.array(z.string()).exactOptional(),
      resolutions: z.array(z.string()).exactOptional(),
    })
    .exactOptional(),
  version: z.string(),
});

/** Written by ourselves: what its rules test is not checked. */
const storedBasis = z.custom<PriceBasis>((value) => frozen.safeParse(value).success);

/** What the entry of a hold keeps: what its task will be charged by, and how the hold came about. */
export function writeHeldBasis(basis: PriceBasis, hold: Reckoning): string {
  return JSON.stringify({ ...basis, hold });
}

/** The basis that a hold was taken with, from its ledger entry; undefined: the entry has none. */
export function heldBasis(text: string | undefined): PriceBasis | undefined {
  return storedBasis.safeParse(parseBasis(text)).data;
}

const amount = z.string();
const stepSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('price'), price: z.string(), quantity: z.string(), amount }),
  z.object({ kind: z.literal('minimum'), minimum: z.string(), amount }),
  z.object({ kind: z.literal('multiplier'), multiplier: z.string(), amount }),
  z.object({ kind: z.literal('held'), amount }),
  z.object({ kind: z.literal('share'), quantity: z.string(), amount }),
  z.object({ kind: z.literal('limit'), limit: z.string(), amount }),
]);

const factsSchema = z.custom<PriceFacts>((value) => typeof value === 'object' && value !== null);

const reckoningSchema = z.object({
  unit: z.enum(priceUnits),
  rules_of: z.enum(['model', 'channel']),
  rule: z.int().exactOptional(),
  facts: factsSchema,
  sources: z.record(z.string(), z.enum(factSources)),
  seconds: z.number().exactOptional(),
  input_seconds: z.number().exactOptional(),
  quantity: z.string().exactOptional(),
  measured: z.enum(quantitySources),
  steps: z.array(stepSchema).min(1),
});

/** Of the entry of a hold. Undefined: it does not say. */
export function readHoldReckoning(basis: string | undefined): Reckoning | undefined {
  return z.object({ hold: reckoningSchema }).safeParse(parseBasis(basis)).data?.hold;
}

/** Of the entry of a settlement. Undefined: it does not say. */
export function readSettleReckoning(basis: string | undefined): Reckoning | undefined {
  return reckoningSchema.safeParse(parseBasis(basis)).data;
}

/** Undefined: it is not JSON, or absent. */
export function parseBasis(basis: string | undefined): unknown {
  return basis === undefined ? undefined : parseJson(basis);
}

export interface ClosingEntry {
  readonly kind: string;
  readonly amount: Micros;
  readonly excess?: Micros;
}

/** Of the entry that gives back the hold of an abandoned creation, whose record is removed. */
export const abandonedNote = 'the creation was abandoned';

/** What a closed task costs its account; nothing when its hold was released. */
export function closedAt({ kind, amount, excess = 0n }: ClosingEntry): Micros {
  return kind === 'settle' ? amount + excess : 0n;
}
