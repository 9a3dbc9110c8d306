import type { NodeReport } from '../../src/store/nodes.ts';

export function workerReport(channels: readonly string[], change: Partial<NodeReport> = {}): NodeReport {
  return {
    id: 'worker/host/1/x',
    kind: 'worker',
    version: '1.0.0',
    since: 5_000,
    leaving: false,
    config: { version: 3, hash: 'abc' },
    channels,
    unreached: [],
    load: { eventLoopLagMs: 4, inFlight: 7 },
    ...change,
  };
}
