import { setTimeout as sleep } from 'node:timers/promises';
import { periods } from '../base/periods.ts';
import { serviceOf, type Service, type Surroundings } from '../task/service.ts';
import type { Pace } from '../process/pace.ts';
import { afterRunning } from '../process/running-time.ts';
import type { Node, NodeStore } from '../store/nodes.ts';
import { isConfigured, type ConfiguredChannel } from '../task/candidates.ts';
import { createSnapshot } from '../store/snapshot.ts';

export interface Nodes extends Service, Surroundings {
  readonly all: () => readonly Node[];
  refresh(): Promise<void>;
  /**
   * Waits up to five seconds until every live process has loaded or rejected this version. If there are several API
   * processes, also waits until each has had time to see which workers serve the version.
   */
  untilDecided(version: number): Promise<void>;
  start(pace: Pace): void;
  stop(): void;
}

export interface NodesDeps extends Pick<Surroundings, 'isUnsearchable' | 'isForgotten'> {
  readonly store: Pick<NodeStore, 'list' | 'lastServed'>;
  readonly channels: () => readonly ConfiguredChannel[] | undefined;
  readonly onError: (error: unknown) => void;
}

const decidedWithinMs = 5_000;
const lookEveryMs = 200;

export function createNodes({ store, channels, onError, ...around }: NodesDeps): Nodes {
  let service: Service | undefined;
  const known = createSnapshot<Node>({
    async list() {
      const [nodes, lastServed] = await Promise.all([store.list(), store.lastServed()]);
      service = serviceOf(nodes, lastServed);
      return nodes;
    },
    period: periods.processes,
    onError,
  });
  return {
    all: () => [...known.all()],
    isServed: (channel) => service?.isServed(channel) ?? true,
    unserved: (channel) => service?.unserved(channel),
    isGone: (candidate) => {
      const configured = channels();
      return configured !== undefined && !isConfigured(configured, candidate);
    },
    ...around,
    refresh: known.refresh,
    async untilDecided(version) {
      let isOver = false;
      const cancel = afterRunning(decidedWithinMs, () => (isOver = true));
      for (;;) {
        await known.refresh();
        const living = [...known.all()].filter(({ state }) => state !== 'gone');
        const isDecided = living.every((node) => hasDecided(node, version));
        if (isDecided || isOver) {
          cancel();
          const apis = living.filter(({ kind }) => kind === 'api').length;
          return void (apis > 1 && (await sleep(periods.processes.everyMs + lookEveryMs)));
        }
        await sleep(lookEveryMs);
      }
    },
    start: known.start,
    stop: known.stop,
  };
}

export async function readService(store: NodesDeps['store']): Promise<Service> {
  return serviceOf(...(await Promise.all([store.list(), store.lastServed()])));
}

function hasDecided({ config }: Node, version: number): boolean {
  return config.version >= version || (config.refused?.version ?? 0) >= version;
}
