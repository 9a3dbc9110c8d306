import { GatewayError } from '../errors/errors.ts';

/** Limits the reports that MongoDB adds up at the same time for this process. */
export interface ReportPlaces {
  /** Throws concurrency_limit_exceeded. What it returns gives the place back; call it once. */
  enter(account: string): () => void;
}

const placesMax = 4;
const retrySeconds = 2;

/** One for each account, so that one that asks all the time leaves the others theirs. */
export function createReportPlaces(): ReportPlaces {
  const taken = new Set<string>();
  return {
    enter(account) {
      if (taken.has(account) || taken.size >= placesMax) {
        throw new GatewayError('concurrency_limit_exceeded', 'Another such report is being made.', {
          retryAfterSeconds: retrySeconds,
        });
      }
      taken.add(account);
      return () => void taken.delete(account);
    },
  };
}
