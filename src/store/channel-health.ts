import type { Db } from 'mongodb';
import type { Circuit, CircuitRecord } from '../health/circuit-rules.ts';
import { durable, openCollection, repeatOnDuplicate } from './mongo.ts';

/** A circuit that was opened at least once. Written on changes of its state only. */
interface CircuitDocument extends CircuitRecord {
  readonly _id: string;
  /** Until then one probe is in flight. */
  readonly probeUntil: number;
}

interface Probe {
  readonly task: string;
  readonly isSuspect: boolean;
  /**
   * False: the evidence is about other models or accounts, so the request need not wait for the end of the cool-down.
   */
  readonly isConcerned: boolean;
  readonly leaseMs: number;
}

export type ChannelHealthStore = ReturnType<typeof createChannelHealthStore>;

export function createChannelHealthStore(db: Db, now: () => number) {
  const circuits = openCollection<CircuitDocument>(db, 'channel_health', durable);
  return {
    /** As many as there are credentials in trouble, now or earlier. */
    async list(): Promise<Circuit[]> {
      return (await circuits.find().toArray()).map(toCircuit);
    },

    async write(id: string, record: CircuitRecord): Promise<void> {
      const fields = { ...record, probeUntil: 0 };
      await repeatOnDuplicate(() => circuits.replaceOne({ _id: id }, fields, { upsert: true }));
    },

    /**
     * True: the task may be sent through an open circuit whose cool-down is over, of all processes' tasks one. Tasks that
     * failed there are suspect: they wait longer than others.
     */
    async takeProbe(id: string, { task, isSuspect, isConcerned, leaseMs }: Probe): Promise<boolean> {
      const at = now();
      const free = { _id: id, state: 'open', probeUntil: { $lte: at } } as const;
      const due = isConcerned ? { ...free, until: { $lte: at } } : free;
      const taken = await circuits.updateOne(
        isSuspect
          ? { ...due, suspectsUntil: { $lte: at } }
          : // As it is stored: what this process last read may be two seconds old.
            { ...due, failedTasks: { $ne: task } },
        { $set: { probeUntil: at + leaseMs } },
      );
      return taken.modifiedCount === 1;
    },
  };
}

function toCircuit({ _id: id, probeUntil: _probeUntil, ...record }: CircuitDocument): Circuit {
  return { id, ...record };
}
