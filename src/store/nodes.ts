import type { Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { Circuit } from '../health/circuit-rules.ts';
import { durable, ensureIndexes, openCollection, repeatOnDuplicate, updateWith } from './mongo.ts';

export interface NodeReport {
  /** `<kind>/<host>/<pid>/<run>` */
  readonly id: string;
  readonly kind: 'api' | 'worker';
  readonly version: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** Set while the process shuts down. It accepts no new work and finishes what it has started. */
  readonly leaving: boolean;
  readonly config: RunConfiguration;
  readonly channels?: readonly string[];
  /** Circuits that are open only in this process, because it cannot reach their upstreams. */
  readonly unreached: readonly Circuit[];
  readonly load: NodeLoad;
}

export interface RunConfiguration {
  /** 0 if the process runs a file that is not known to have been published. */
  readonly version: number;
  readonly hash: string;
  readonly refused?: { readonly version: number; readonly reasons: readonly string[] };
}

export interface NodeLoad {
  /** The 99th percentile of the event loop delay since the last report. */
  readonly eventLoopLagMs: number;
  readonly inFlight: number;
}

export interface Node extends NodeReport {
  /** `gone` means that the last report is too old to come from a process that is merely slow. */
  readonly state: 'running' | 'leaving' | 'gone';
  /** Unix milliseconds by MongoDB's clock. Compare it only with other nodes' times. */
  readonly seen: number;
}

interface NodeDocument extends Omit<NodeReport, 'id'> {
  readonly _id: string;
  readonly seen: Date;
}

/**
 * Records when a worker last served a channel. The channel is a value rather than a field name, because its id may
 * contain dots.
 */
interface ServedDocument {
  readonly _id: string;
  readonly at: Date;
}

const notedEveryMs = 15_000;
/** Nodes that have missed four reports are considered gone. */
const silentMs = 24_000;
const keptSeconds = 600;
const nodesMax = 1_000;
const servedMax = 10_000;

export type NodeStore = ReturnType<typeof createNodeStore>;

export function createNodeStore(db: Db) {
  const nodes = openCollection<NodeDocument>(db, 'nodes', durable);
  const served = openCollection<ServedDocument>(db, 'served_channels', durable);

  let noted = { channels: '', at: -Infinity };

  async function noteServed(channels: readonly string[]): Promise<void> {
    const names = channels.join();
    if (names === noted.channels && performance.now() - noted.at < notedEveryMs) return;
    const at = performance.now();
    await writeServed(channels);
    noted = { channels: names, at };
  }

  async function writeServed(channels: readonly string[]): Promise<void> {
    const now = { $currentDate: { at: true } } as const;
    const { matchedCount } = await served.updateMany({ _id: { $in: [...channels] } }, now);
    if (matchedCount === channels.length) return;
    for (const _id of channels)
      await repeatOnDuplicate(() => served.updateOne({ _id }, now, { upsert: true }));
  }

  return {
    ensureIndexes: () =>
      ensureIndexes(nodes, [{ name: 'seen', key: { seen: 1 }, expireAfterSeconds: keptSeconds }]),

    async report({ id: _id, ...report }: NodeReport): Promise<void> {
      await repeatOnDuplicate(() =>
        nodes.updateOne({ _id }, updateWith({ $set: report, $currentDate: { seen: true } }), {
          upsert: true,
        }),
      );
      const { channels = [] } = report;
      if (channels.length > 0) await noteServed(channels);
    },

    async remove(_id: string): Promise<void> {
      await nodes.deleteOne({ _id });
    },

    async list(): Promise<readonly Node[]> {
      const found = await nodes.find().sort({ _id: 1 }).limit(nodesMax).toArray();
      // The reading process also reports, so the newest report is about as recent as the read.
      const newest = Math.max(...found.map(({ seen }) => seen.getTime()));
      return found
        .map((document) => toNode(document, newest))
        .filter(({ seen }) => newest - seen <= keptSeconds * 1000);
    },

    async lastServed(): Promise<ReadonlyMap<string, number>> {
      const found = await served.find().sort({ _id: 1 }).limit(servedMax).toArray();
      return new Map(found.map(({ _id, at }) => [_id, at.getTime()]));
    },
  };
}

function toNode({ _id: id, seen: at, channels, ...report }: NodeDocument, newest: number): Node {
  const seen = at.getTime();
  const here = report.leaving ? 'leaving' : 'running';
  const state = newest - seen > silentMs ? 'gone' : here;
  return { ...report, id, seen, state, ...defined({ channels }) };
}
