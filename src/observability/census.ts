import type { Census } from '../domain/census.ts';
import type { CensusGauges } from './census-gauges.ts';

export interface CensusTaker {
  /** Its turn comes every few seconds until `stop`. */
  start(): void;
  stop(): void;
  /** One turn. Never rejects. */
  readonly turn: () => Promise<void>;
}

export interface CensusTakerDeps extends CensusGauges {
  /** Whether it is this process that counts. */
  readonly duty: () => Promise<boolean>;
  readonly take: () => Promise<Census>;
  readonly onError: (error: unknown) => void;
}

export const censusIntervalMs = 15_000;

/**
 * Of all workers one counts the whole system, and shows it, as long as it lives. It needs no Temporal: what an operator
 * looks at while Temporal is down must not depend on it.
 */
export function createCensusTaker(deps: CensusTakerDeps): CensusTaker {
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;

  async function turn(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    try {
      const isMine = await deps.duty();
      deps.showCensus(isMine ? await deps.take() : undefined);
    } catch (error) {
      // What was counted last stays; its age says so.
      deps.onError(error);
    } finally {
      isBusy = false;
    }
  }

  return {
    start: () => void (timer ??= setInterval(() => void turn(), censusIntervalMs).unref()),
    stop: () => clearInterval(timer),
    turn,
  };
}
