import { z } from 'zod';
import type { Cost } from './cost.ts';

/** What the basis of a settlement records beside its computation. A synchronous image has no other record. */
export interface SettledFacts {
  /** What the vendor reported to charge. */
  readonly cost?: Cost;
}

const schema = z.object({ cost: z.object({ amount: z.string(), unit: z.string() }) });

/** Undefined: the entry records none. */
export function settledCost(basis: string | undefined): Cost | undefined {
  return basis === undefined ? undefined : schema.safeParse(parseBasis(basis)).data?.cost;
}

/** The text of an entry is not bound to be JSON. */
function parseBasis(basis: string): unknown {
  try {
    return JSON.parse(basis);
  } catch {
    return undefined;
  }
}
