import { setTimeout as sleep } from 'node:timers/promises';
import type { Node, NodeStore } from '../store/nodes.ts';
import { createSnapshot } from '../store/snapshot.ts';

/** All processes of the gateway, as this one last read what they say of themselves. */
export interface Nodes {
  readonly all: () => readonly ListedNode[];
  /** False while workers live and none of them serves the channel. From memory. */
  readonly isServed: (channel: string) => boolean;
  /** Rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  /** When every living process has taken this version of the configuration or refused it, or after five seconds. */
  untilDecided(version: number): Promise<void>;
  start(): void;
  stop(): void;
}

export interface ListedNode extends Node {
  /** `gone`: it has not been heard of for longer than a slow process is silent. */
  readonly state: 'running' | 'leaving' | 'gone';
}

export interface NodesDeps {
  readonly store: Pick<NodeStore, 'list'>;
  /** What was read last stays in force. */
  readonly onError: (error: unknown) => void;
}

const intervalMs = 2_000;
/** Four reports were missed. */
const silentMs = 20_000;
const decidedWithinMs = 5_000;
const lookEveryMs = 200;

export function createNodes({ store, onError }: NodesDeps): Nodes {
  /** Absent: no worker lives. */
  let served: ReadonlySet<string> | undefined;
  const known = createSnapshot<ListedNode>({
    async list() {
      const nodes = withStates(await store.list());
      served = servedBy(nodes);
      return nodes;
    },
    intervalMs,
    onError,
  });
  return {
    all: () => [...known.all()],
    isServed: (channel) => served?.has(channel) ?? true,
    refresh: known.refresh,
    async untilDecided(version) {
      const endsAt = performance.now() + decidedWithinMs;
      for (;;) {
        await known.refresh();
        const living = [...known.all()].filter(({ state }) => state !== 'gone');
        if (living.every((node) => hasDecided(node, version)) || performance.now() >= endsAt) return;
        await sleep(lookEveryMs);
      }
    },
    start: known.start,
    stop: known.stop,
  };
}

/** Who reads this reports, too: the newest report is as recent as the read. */
function withStates(nodes: readonly Node[]): readonly ListedNode[] {
  const newest = Math.max(...nodes.map(({ seen }) => seen));
  return nodes.map((node) => {
    const here = node.leaving ? 'leaving' : 'running';
    return { ...node, state: newest - node.seen > silentMs ? 'gone' : here };
  });
}

function servedBy(nodes: readonly ListedNode[]): ReadonlySet<string> | undefined {
  const workers = nodes.filter(({ kind, state }) => kind === 'worker' && state === 'running');
  return workers.length === 0 ? undefined : new Set(workers.flatMap(({ channels = [] }) => channels));
}

function hasDecided({ config }: Node, version: number): boolean {
  return config.version >= version || (config.refused?.version ?? 0) >= version;
}
