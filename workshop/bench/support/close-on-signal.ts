import { endSignalled } from '../../../src/observability/process-ends.ts';

/** Ends this process with `close` at the first SIGINT or SIGTERM. */
export function closeOnSignal(close: () => Promise<void>): void {
  void endSignalled()
    .then(close)
    .finally(() => process.exit(1));
}
