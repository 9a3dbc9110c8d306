import type { Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import { dueAtOnce, type Circuit, type CircuitRecord } from '../health/circuit-rules.ts';
import { durable, openCollection, repeatOnDuplicate } from './mongo.ts';

/** Exists once a circuit has opened for the first time. Written only when its state changes. */
interface CircuitDocument extends CircuitRecord {
  readonly _id: string;
  /** Unix milliseconds. Until then, a probe may be in flight. */
  readonly probeUntil: number;
  readonly probe?: string;
}

interface Probe {
  readonly task: string;
  readonly isSuspect: boolean;
  /**
   * False if the failures affect only other models or accounts. The request then need not wait for the circuit to
   * close.
   */
  readonly isConcerned: boolean;
  readonly leaseMs: number;
}

export type ChannelHealthStore = ReturnType<typeof createChannelHealthStore>;

export function createChannelHealthStore(db: Db, now: () => number) {
  const circuits = openCollection<CircuitDocument>(db, 'channel_health', durable);
  return {
    async list(): Promise<Circuit[]> {
      return (await circuits.find().toArray()).map(toCircuit);
    },

    async write(id: string, record: CircuitRecord): Promise<void> {
      const fields = { ...record, probeUntil: 0 };
      await repeatOnDuplicate(() => circuits.replaceOne({ _id: id }, fields, { upsert: true }));
    },

    /** Makes the circuit due at once, unless another process has written it since `seen` was read. */
    async makeDue({ id, ...seen }: Circuit): Promise<void> {
      const { until, suspectsUntil } = dueAtOnce(seen);
      await circuits.updateOne(
        { _id: id, until: seen.until, at: seen.at },
        { $set: { until, ...defined({ suspectsUntil }), probeUntil: 0 } },
      );
    },

    async takeProbe(id: string, { task, isSuspect, isConcerned, leaseMs }: Probe): Promise<boolean> {
      const at = now();
      const free = { _id: id, state: 'open', probeUntil: { $lte: at } } as const;
      const due = isConcerned ? { ...free, until: { $lte: at } } : free;
      const taken = await circuits.updateOne(
        isSuspect
          ? { ...due, suspectsUntil: { $lte: at } }
          : // Use the stored value, because this process's own copy may be two seconds old.
            { ...due, failedTasks: { $ne: task } },
        { $set: { probeUntil: at + leaseMs, probe: task } },
      );
      return taken.modifiedCount === 1;
    },

    /** Does nothing if the current probe belongs to another task. */
    async giveBackProbe(id: string, task: string): Promise<void> {
      await circuits.updateOne({ _id: id, probe: task }, { $set: { probeUntil: 0 } });
    },
  };
}

function toCircuit({ _id: id, probeUntil: _until, probe: _probe, ...record }: CircuitDocument): Circuit {
  return { id, ...record };
}
