import { z } from 'zod';
import type { Cost } from './cost.ts';
import { parseBasis } from './ledger-basis.ts';
import type { SettleFacts } from './settle-facts.ts';

/**
 * The facts that a settlement's entry records in addition to the calculation. For synchronous images, they are the
 * only record.
 */
export interface SettledFacts {
  /** The vendor's reported cost. */
  readonly cost?: Cost;
  /** The output reported by the upstream. */
  readonly reported: SettleFacts;
}

const costSchema = z.object({ cost: z.object({ amount: z.string(), unit: z.string() }) });

/** Reads the vendor's reported cost from a settlement's entry. Returns undefined if there is none. */
export function settledCost(basis: string | undefined): Cost | undefined {
  return costSchema.safeParse(parseBasis(basis)).data?.cost;
}

/** Whether the settlement charged output that was neither reported nor measured. */
export function settledByEstimate(basis: string | undefined): boolean {
  return z.object({ estimated: z.literal(true) }).safeParse(parseBasis(basis)).success;
}

/** Reads the reported output from a settlement's entry without validating it. Returns undefined if there is none. */
export function settledReport(basis: string | undefined): unknown {
  return z.object({ reported: z.unknown() }).safeParse(parseBasis(basis)).data?.reported;
}
