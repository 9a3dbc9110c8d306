import { z } from 'zod';
import type { Cost } from './cost.ts';
import { parseBasis } from './ledger-basis.ts';
import type { SettleFacts } from './settle-facts.ts';

/** What the basis of a settlement records beside its computation. A synchronous image has no other record. */
export interface SettledFacts {
  /** What the vendor reported to charge. */
  readonly cost?: Cost;
  /** What the upstream said it had rendered. */
  readonly reported: SettleFacts;
}

const costSchema = z.object({ cost: z.object({ amount: z.string(), unit: z.string() }) });

/** Undefined: the entry records none. */
export function settledCost(basis: string | undefined): Cost | undefined {
  return costSchema.safeParse(parseBasis(basis)).data?.cost;
}

/** As it was written; undefined: the entry records none. */
export function settledReport(basis: string | undefined): unknown {
  return z.object({ reported: z.unknown() }).safeParse(parseBasis(basis)).data?.reported;
}
