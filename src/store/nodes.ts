import type { Collection, Db } from 'mongodb';
import { defined } from '../domain/defined.ts';
import { ensureIndexes, repeatOnDuplicate } from './mongo.ts';

/** What a process says of itself every few seconds. */
export interface NodeReport {
  /** `<kind>/<host>/<pid>/<run>` */
  readonly id: string;
  readonly kind: 'api' | 'worker';
  /** Of the product. */
  readonly version: string;
  /** Unix milliseconds, by the clock of the process. */
  readonly since: number;
  /** It accepts no new work and ends when it has done what it began. */
  readonly leaving: boolean;
  readonly config: RunConfiguration;
  /** Of a worker: whose queues it serves. */
  readonly channels?: readonly string[];
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
  /** Unix milliseconds, by MongoDB's clock: compared with other nodes' only. */
  readonly seen: number;
}

interface NodeDocument extends Omit<NodeReport, 'id'> {
  readonly _id: string;
  readonly seen: Date;
}

/** A node that ended without a word is shown for a while. */
const keptSeconds = 600;
/** A bound for the read. */
const nodesMax = 1_000;

export type NodeStore = ReturnType<typeof createNodeStore>;

export function createNodeStore(db: Db) {
  const nodes: Collection<NodeDocument> = db.collection<NodeDocument>('nodes');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(nodes, [{ name: 'seen', key: { seen: 1 }, expireAfterSeconds: keptSeconds }]);
    },

    async report({ id: _id, ...report }: NodeReport): Promise<void> {
      await repeatOnDuplicate(() =>
        nodes.updateOne({ _id }, { $set: report, $currentDate: { seen: true } }, { upsert: true }),
      );
    },

    async remove(_id: string): Promise<void> {
      await nodes.deleteOne({ _id });
    },

    /** Those that were seen in the ten minutes before the last one was. */
    async list(): Promise<readonly Node[]> {
      const found = (await nodes.find().sort({ _id: 1 }).limit(nodesMax).toArray()).map(toNode);
      const newest = Math.max(...found.map(({ seen }) => seen));
      return found.filter(({ seen }) => newest - seen <= keptSeconds * 1000);
    },
  };
}

function toNode(document: NodeDocument): Node {
  const { _id: id, kind, version, since, leaving, config, channels, load, seen } = document;
  const known = { id, kind, version, since, leaving, config, load, seen: seen.getTime() };
  return { ...known, ...defined({ channels }) };
}
