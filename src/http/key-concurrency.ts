import { GatewayError } from '../errors/errors.ts';

/** Counts the requests of each key that are in progress in this process. */
export interface KeyConcurrency {
  /** Throws rate_limit_exceeded beyond the limit. What it returns ends the request; call it once. */
  enter(key: string): () => void;
}

const retrySeconds = 1;

/** `max` 0: no limit. */
export function createKeyConcurrency(max: number): KeyConcurrency {
  const counts = new Map<string, number>();
  return {
    enter(key) {
      const count = counts.get(key) ?? 0;
      if (max > 0 && count >= max) {
        throw new GatewayError(
          'rate_limit_exceeded',
          `This API key may have ${max} requests in progress at once.`,
          { retryAfterSeconds: retrySeconds },
        );
      }
      counts.set(key, count + 1);
      return () => {
        const left = (counts.get(key) ?? 1) - 1;
        if (left === 0) counts.delete(key);
        else counts.set(key, left);
      };
    },
  };
}
