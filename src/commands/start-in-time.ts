import { serviceUnavailable } from '../errors/errors.ts';
import { afterRunning } from '../process/running-time.ts';

/** A limit is needed because MongoDB can delay the start of a workflow, and its own timeouts are half a minute long. */
const startWithinMs = 5_000;

/**
 * Rejects with `service_unavailable` if `create` has not called `mayStart` in time. After that, `mayStart` returns
 * false, and `create` continues in the background to undo what it has written.
 */
export function startInTime<Result>(create: (mayStart: () => boolean) => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const cancel = afterRunning(startWithinMs, () => {
      isLate = true;
      reject(serviceUnavailable('MongoDB did not respond in time'));
    });
    const mayStart = (): boolean => {
      cancel();
      return !isLate;
    };
    void create(mayStart).then(resolve, reject).finally(cancel);
  });
}
