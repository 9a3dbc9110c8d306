import { z } from 'zod';
import type { Micros } from './money.ts';
import { parseJson } from '../base/parse-json.ts';
import { measures } from './measures.ts';
import type { PriceBasis, PriceFacts } from './price.ts';
import { countSources, factSources } from './reckoning.ts';
import type { Reckoning } from './reckoning.ts';

/** What the ledger's entries keep of prices. An entry's text is not bound to be JSON of ours. */

const price = z.object({
  minimum: z.string(),
  lines: z.array(z.object({ measure: z.enum(measures), price: z.string() })),
});
const bound = z.object({ most: z.string(), source: z.enum(['request', 'measured', 'assumed']) });
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
  bounds: z.partialRecord(z.enum(measures), bound).exactOptional(),
  least: z.string().exactOptional(),
  version: z.string(),
});

/** We wrote it ourselves, so the conditions of its lines are not validated again. */
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
  z.object({ kind: z.enum(['sum', 'held', 'least']), amount }),
  z.object({ kind: z.literal('minimum'), minimum: z.string(), amount }),
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
