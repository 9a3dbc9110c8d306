import { serviceUnavailable } from '../errors/errors.ts';

/** Until its workflow starts, a creation waits for MongoDB alone, whose own errors come after half a minute. */
const ticksMax = 5;
/** Ticks are counted, not time: while this process stands still, nobody has kept it waiting. */
const tickMs = 1_000;

/**
 * Rejects with `service_unavailable` when `create` has not asked `mayStart` within five seconds. From then on the answer
 * to that is false, and `create`, which nobody waits for any more, abandons what it has written.
 */
export function startInTime<Result>(create: (mayStart: () => boolean) => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
      if (ticks < ticksMax) return;
      clearInterval(timer);
      reject(serviceUnavailable('MongoDB did not answer in time'));
    }, tickMs);
    const mayStart = (): boolean => {
      clearInterval(timer);
      return ticks < ticksMax;
    };
    void create(mayStart)
      .then(resolve, reject)
      .finally(() => clearInterval(timer));
  });
}
