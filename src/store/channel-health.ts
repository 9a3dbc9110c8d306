import type { Collection, Db } from 'mongodb';
import type { CircuitRecord } from '../domain/circuit-rules.ts';
import { isDuplicateKey } from './mongo.ts';

/** A circuit that was opened at least once. Written on changes of its state only. */
export interface Circuit extends CircuitRecord {
  /** `<channel>/<credential>`, with `/<model>` where only one model is concerned. */
  readonly id: string;
}

interface CircuitDocument extends CircuitRecord {
  readonly _id: string;
  /** Until then one probe is in flight. */
  readonly probe_until: number;
}

export type ChannelHealthStore = ReturnType<typeof createChannelHealthStore>;

export function createChannelHealthStore(db: Db, now: () => number) {
  const circuits: Collection<CircuitDocument> = db.collection<CircuitDocument>('channel_health');
  return {
    /** As many as there are credentials in trouble, now or earlier. */
    async list(): Promise<Circuit[]> {
      return (await circuits.find().toArray()).map(toCircuit);
    },

    async write(id: string, record: CircuitRecord): Promise<void> {
      const fields = { ...record, probe_until: 0 };
      try {
        await circuits.updateOne({ _id: id }, { $set: fields }, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        await circuits.updateOne({ _id: id }, { $set: fields });
      }
    },

    /** True: the caller may send one request through an open circuit whose cool-down is over. Of all processes one. */
    async takeProbe(id: string, leaseMs: number): Promise<boolean> {
      const at = now();
      const taken = await circuits.updateOne(
        { _id: id, state: 'open', until: { $lte: at }, probe_until: { $lte: at } },
        { $set: { probe_until: at + leaseMs } },
      );
      return taken.modifiedCount === 1;
    },
  };
}

function toCircuit({ _id: id, state, sign, code, coolDownMs, until, at }: CircuitDocument): Circuit {
  return { id, state, sign, code, coolDownMs, until, at };
}
