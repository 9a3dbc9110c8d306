import { createRounds } from '../process/rounds.ts';
import { messageOf } from '../base/caught.ts';
import type { Report } from './servers/local-options.ts';

const intervalMs = 5_000;
const failuresMax = 2;

export interface WatchOptions {
  /** Throws while the gateway is not ready. The message names the server that does not respond. */
  readonly probe: () => Promise<void>;
  readonly report: Report;
  readonly everyMs?: number;
}

/**
 * Reports when the gateway stops being ready and when it is ready again. The supervisor does not notice a process that
 * is alive but unresponsive.
 */
export function watchGateway({ probe, report, everyMs = intervalMs }: WatchOptions): {
  stop(): Promise<void>;
} {
  let failures = 0;
  let stopped = false;
  const rounds = createRounds({
    everyMs,
    async work() {
      await probe();
      if (failures >= failuresMax && !stopped) report('The gateway is ready again.');
      failures = 0;
    },
    onError(error) {
      failures += 1;
      if (failures === failuresMax && !stopped) report(`The gateway stopped responding: ${messageOf(error)}`);
    },
  });
  rounds.start();
  return {
    stop() {
      stopped = true;
      return rounds.stop();
    },
  };
}
