import { z } from 'zod';
import type { Micros } from './money.ts';
import { parseJson } from '../base/parse-json.ts';
import { measures } from './measures.ts';
import type { PriceBasis, PriceFacts } from './price.ts';
import { countSources, factSources, type Reckoning } from './reckoning.ts';

/** Reads the pricing data of ledger entries. It is validated, because entries may have been edited in MongoDB. */

const price = z.object({
  minimum: z.string(),
  lines: z.array(z.object({ measure: z.enum(measures), price: z.string() })),
});
const bound = z.object({ most: z.string(), source: z.enum(['request', 'measured', 'assumed']) });
const frozen = z.object({
  price,
  channels: z.record(z.string(), price).exactOptional(),
  factor: z.string().exactOptional(),
  facts: z.record(z.string(), z.unknown()),
  unsent: z.record(z.string(), z.array(z.string())).exactOptional(),
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
  bounds: z.partialRecord(z.enum(measures), bound).exactOptional(),
  least: z.string().exactOptional(),
  version: z.string(),
});

const storedBasis = z.custom<PriceBasis>((value) => frozen.safeParse(value).success);

export function writeHeldBasis(basis: PriceBasis, hold: Reckoning): string {
  return JSON.stringify({ ...basis, hold });
}

export function heldBasis(text: string | undefined): PriceBasis | undefined {
  return storedBasis.safeParse(parseBasis(text)).data;
}

const amount = z.string();
const stepSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['sum', 'held', 'least']), amount }),
  z.object({ kind: z.literal('minimum'), minimum: z.string(), amount }),
  z.object({ kind: z.literal('factor'), factor: z.string(), amount }),
  z.object({ kind: z.literal('multiplier'), multiplier: z.string(), amount }),
  z.object({ kind: z.literal('share'), quantity: z.string(), amount }),
  z.object({ kind: z.literal('limit'), limit: z.string(), amount }),
]);

const factsSchema = z.custom<PriceFacts>((value) => typeof value === 'object' && value !== null);

const lineSchema = z.object({
  line: z.int().nonnegative(),
  measure: z.enum(measures),
  price: z.string(),
  quantity: z.string(),
  free: z.string().exactOptional(),
  source: z.enum(countSources),
  of: factsSchema.exactOptional(),
  images: z.int().positive().exactOptional(),
  amount,
});

const reckoningSchema = z.object({
  rules_of: z.enum(['model', 'channel']),
  facts: factsSchema,
  sources: z.record(z.string(), z.enum(factSources)),
  seconds: z.number().exactOptional(),
  input_seconds: z.number().exactOptional(),
  lines: z.array(lineSchema),
  steps: z.array(stepSchema).min(1),
});

export function readHoldReckoning(basis: string | undefined): Reckoning | undefined {
  return z.object({ hold: reckoningSchema }).safeParse(parseBasis(basis)).data?.hold;
}

export function readSettleReckoning(basis: string | undefined): Reckoning | undefined {
  return reckoningSchema.safeParse(parseBasis(basis)).data;
}

export function parseBasis(basis: string | undefined): unknown {
  return basis === undefined ? undefined : parseJson(basis);
}

export interface ClosingEntry {
  readonly kind: string;
  readonly amount: Micros;
  readonly excess?: Micros;
}

export const abandonedNote = 'the creation was abandoned';

export function closedAt({ kind, amount, excess = 0n }: ClosingEntry): Micros {
  return kind === 'settle' ? amount + excess : 0n;
}
