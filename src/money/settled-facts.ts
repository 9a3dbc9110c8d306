import { z } from 'zod';
import type { Cost } from './cost.ts';
import { parseBasis } from './ledger-basis.ts';
import type { SettleFacts } from './settle-facts.ts';

export interface SettledFacts {
  readonly cost?: Cost;
  readonly reported: SettleFacts;
}

const costSchema = z.object({ cost: z.object({ amount: z.string(), unit: z.string() }) });

export function settledCost(basis: string | undefined): Cost | undefined {
  return costSchema.safeParse(parseBasis(basis)).data?.cost;
}

export function settledByEstimate(basis: string | undefined): boolean {
  return z.object({ estimated: z.literal(true) }).safeParse(parseBasis(basis)).success;
}

export function settledReport(basis: string | undefined): unknown {
  return z.object({ reported: z.unknown() }).safeParse(parseBasis(basis)).data?.reported;
}
