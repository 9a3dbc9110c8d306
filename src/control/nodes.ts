import { setTimeout as sleep } from 'node:timers/promises';
import { serviceOf } from '../task/service.ts';
import type { Pace } from '../process/pace.ts';
import type { Service, Surroundings } from '../task/service.ts';
import type { Node, NodeStore } from '../store/nodes.ts';
import { createSnapshot } from '../store/snapshot.ts';

/** All processes of the gateway, as this one last read what they say of themselves. */
export interface Nodes extends Service, Surroundings {
  readonly all: () => readonly Node[];
  /** Rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  /**
   * When every living process has taken this version of the configuration or refused it, or after five seconds; and then,
   * where several APIs run, when each has had the time to see which workers serve it.
   */
  untilDecided(version: number): Promise<void>;
  start(pace: Pace): void;
  stop(): void;
}

export interface NodesDeps {
  readonly store: Pick<NodeStore, 'list' | 'lastServed'>;
  /** The channels of the running configuration. Undefined: a newer configuration is published. */
  readonly channels: () => readonly ConfiguredChannel[] | undefined;
  /** What was read last stays in force. */
  readonly onError: (error: unknown) => void;
}

interface ConfiguredChannel {
  readonly id: string;
  readonly credentials: readonly { readonly id: string }[];
}

const intervalMs = 2_000;
const decidedWithinMs = 5_000;
const lookEveryMs = 200;

export function createNodes({ store, channels, onError }: NodesDeps): Nodes {
  let service: Service | undefined;
  const known = createSnapshot<Node>({
    async list() {
      const [nodes, lastServed] = await Promise.all([store.list(), store.lastServed()]);
      service = serviceOf(nodes, lastServed);
      return nodes;
    },
    intervalMs,
    onError,
  });
  return {
    all: () => [...known.all()],
    isServed: (channel) => service?.isServed(channel) ?? true,
    unserved: (channel) => service?.unserved(channel),
    isGone: ({ channel, credential }) =>
      channels()?.some(
        ({ id, credentials }) => id === channel && credentials.some((one) => one.id === credential),
      ) === false,
    refresh: known.refresh,
    async untilDecided(version) {
      const endsAt = performance.now() + decidedWithinMs;
      for (;;) {
        await known.refresh();
        const living = [...known.all()].filter(({ state }) => state !== 'gone');
        const isDecided = living.every((node) => hasDecided(node, version));
        if (isDecided || performance.now() >= endsAt) {
          const apis = living.filter(({ kind }) => kind === 'api').length;
          return void (apis > 1 && (await sleep(intervalMs + lookEveryMs)));
        }
        await sleep(lookEveryMs);
      }
    },
    start: known.start,
    stop: known.stop,
  };
}

/** As it is now. */
export async function readService(store: NodesDeps['store']): Promise<Service> {
  return serviceOf(...(await Promise.all([store.list(), store.lastServed()])));
}

function hasDecided({ config }: Node, version: number): boolean {
  return config.version >= version || (config.refused?.version ?? 0) >= version;
}
