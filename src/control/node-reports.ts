import { monitorEventLoopDelay } from 'node:perf_hooks';
import { periods } from '../base/periods.ts';
import type { NodeReport, NodeStore } from '../store/nodes.ts';

export interface NodeReports {
  report(): Promise<void>;
  start(): Promise<void>;
  /**
   * Announces that this process no longer accepts work. Never rejects, because the other processes also notice when the
   * reports stop.
   */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

export interface NodeReportsDeps {
  readonly store: Pick<NodeStore, 'report' | 'remove'>;
  readonly identity: Pick<NodeReport, 'id' | 'kind' | 'version' | 'since'>;
  readonly config: () => NodeReport['config'];
  readonly inFlight: () => number;
  readonly channels?: () => readonly string[];
  readonly unreached: () => NodeReport['unreached'];
  readonly onError: (error: unknown) => void;
}

const resolutionMs = 100;
const nanosecondsPerMs = 1e6;
const lagPercentile = 99;

export function createNodeReports(deps: NodeReportsDeps): NodeReports {
  const { store, identity, config, channels, onError } = deps;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  let timer: NodeJS.Timeout | undefined;
  let leaving = false;

  async function report(): Promise<void> {
    const lag = Math.max(0, delay.percentile(lagPercentile) / nanosecondsPerMs - resolutionMs);
    delay.reset();
    await store.report({
      ...identity,
      leaving,
      config: config(),
      ...(channels === undefined ? {} : { channels: leaving ? [] : channels() }),
      unreached: deps.unreached(),
      load: { eventLoopLagMs: Math.round(lag), inFlight: deps.inFlight() },
    });
  }

  return {
    report,
    async start() {
      delay.enable();
      timer ??= setInterval(() => void report().catch(onError), periods.ownReport.everyMs).unref();
      await report().catch(onError);
    },
    async leave() {
      leaving = true;
      await report().catch(onError);
    },
    async stop() {
      clearInterval(timer);
      delay.disable();
      await store.remove(identity.id).catch(onError);
    },
  };
}
