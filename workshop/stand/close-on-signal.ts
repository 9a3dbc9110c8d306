import { endSignalled } from '../../src/observability/process-ends.ts';

/** Calls `close` at the first SIGINT or SIGTERM to end this process. */
export function closeOnSignal(close: () => Promise<void>): void {
  void endSignalled()
    .then(close)
    .finally(() => process.exit(1));
}
