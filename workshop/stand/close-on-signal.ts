import { endSignalled } from '../../src/observability/process-ends.ts';

export function closeOnSignal(close: () => Promise<void>): void {
  void endSignalled()
    .then(close)
    .finally(() => process.exit(1));
}
