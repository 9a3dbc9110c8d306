import type { Census } from '../task/census.ts';
import { createRounds } from '../process/rounds.ts';
import type { Rounds } from '../process/rounds.ts';
import type { CensusGauges } from './census-gauges.ts';

export interface CensusTakerDeps extends CensusGauges {
  /** Whether it is this process that counts. */
  readonly duty: () => Promise<boolean>;
  readonly take: () => Promise<Census>;
  /** What was counted last stays; its age says so. */
  readonly onError: (error: unknown) => void;
}

export const censusIntervalMs = 15_000;

/**
 * Of all workers one counts the whole system, and shows it, as long as it lives. It needs no Temporal: what an operator
 * looks at while Temporal is down must not depend on it.
 */
export function createCensusTaker(deps: CensusTakerDeps): Rounds {
  const work = async () => deps.showCensus((await deps.duty()) ? await deps.take() : undefined);
  return createRounds({ everyMs: censusIntervalMs, work, onError: deps.onError });
}
