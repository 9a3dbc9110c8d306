import type { Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { Circuit } from '../health/circuit-rules.ts';
import { durable, ensureIndexes, openCollection, repeatOnDuplicate, updateWith } from './mongo.ts';

/** What a process says of itself every few seconds. */
export interface NodeReport {
  /** `<kind>/<host>/<pid>/<run>` */
  readonly id: string;
  readonly kind: 'api' | 'worker';
  /** Of the product. */
  readonly version: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** It accepts no new work and ends when it has done what it began. */
  readonly leaving: boolean;
  readonly config: RunConfiguration;
  /** Of a worker: whose queues it serves. */
  readonly channels?: readonly string[];
  /** The circuits that exist only in this process, because it cannot reach their upstreams. */
  readonly unreached: readonly Circuit[];
  readonly load: NodeLoad;
}

export interface RunConfiguration {
  /** 0: its own file, of which no publication is known. */
  readonly version: number;
  readonly hash: string;
  /** A published version that the process could not load, and why. */
  readonly refused?: { readonly version: number; readonly reasons: readonly string[] };
}

export interface NodeLoad {
  /** The longest delay of the event loop, but for one turn in a hundred, since the report before. */
  readonly eventLoopLagMs: number;
  /** Requests of an API, activities of a worker. */
  readonly inFlight: number;
}

export interface Node extends NodeReport {
  /** `gone`: it has not been heard of for longer than a slow process is silent. */
  readonly state: 'running' | 'leaving' | 'gone';
  /** Unix milliseconds, by MongoDB's clock: compared with other nodes' only. */
  readonly seen: number;
}

interface NodeDocument extends Omit<NodeReport, 'id'> {
  readonly _id: string;
  readonly seen: Date;
}

/** When a worker said last that it serves a channel. The channel is a value: its id may have dots. */
interface ServedDocument {
  readonly _id: string;
  readonly at: Date;
}

/** Four reports were missed. */
const silentMs = 20_000;
/** A node that ended without a word is shown for a while. */
const keptSeconds = 600;
/** Bounds for the reads. */
const nodesMax = 1_000;
const servedMax = 10_000;

export type NodeStore = ReturnType<typeof createNodeStore>;

export function createNodeStore(db: Db) {
  const nodes = openCollection<NodeDocument>(db, 'nodes', durable);
  const served = openCollection<ServedDocument>(db, 'served_channels', durable);

  async function noteServed(channels: readonly string[]): Promise<void> {
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

    /** Those that were seen in the ten minutes before the last one was. */
    async list(): Promise<readonly Node[]> {
      const found = await nodes.find().sort({ _id: 1 }).limit(nodesMax).toArray();
      // Who reads this reports, too: the newest report is as recent as the read.
      const newest = Math.max(...found.map(({ seen }) => seen.getTime()));
      return found
        .map((document) => toNode(document, newest))
        .filter(({ seen }) => newest - seen <= keptSeconds * 1000);
    },

    /** When each channel was served last, in Unix milliseconds. */
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
