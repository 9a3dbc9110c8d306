import { periods } from '../base/periods.ts';
import type { Census } from '../reports/census.ts';
import { createRounds, type Rounds } from '../process/rounds.ts';
import type { CensusGauges } from './census-gauges.ts';

export interface CensusTakerDeps extends CensusGauges {
  readonly duty: () => Promise<boolean>;
  readonly take: () => Promise<Census>;
  /** Called if counting fails. The previous counts stay in place, and their age reveals the failure. */
  readonly onError: (error: unknown) => void;
}

/**
 * One worker counts the whole system and shows the result as long as it runs. Temporal is not involved, because
 * operators must be able to see the census while Temporal is down.
 */
export function createCensusTaker(deps: CensusTakerDeps): Rounds {
  const work = async () => deps.showCensus((await deps.duty()) ? await deps.take() : undefined);
  return createRounds({ ...periods.census, work, onError: deps.onError });
}
