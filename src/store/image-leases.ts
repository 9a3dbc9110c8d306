import type { Db } from 'mongodb';
import type { UpstreamCost } from '../task/cost.ts';
import { durable, openCollection } from './mongo.ts';

/**
 * Which process is responsible for the holds of synchronous images: one document for each API process, written before
 * its first hold and renewed while it lives. One that is renewed no more belongs to a process that died.
 */
export interface ImageLease {
  /** What the ids of the process's images begin with. */
  readonly id: string;
  /** For people. */
  readonly process: string;
  /** The first id that the process may still be at work on; it has finished all before. */
  readonly from: string;
  /** Counts its renewals: who looks compares no clock with the owner's. */
  readonly beat: number;
}

interface LeaseDocument extends Omit<ImageLease, 'id'> {
  readonly _id: string;
  /** Another process closes the holds of this one: its lease can no longer be renewed. */
  readonly dead?: true;
}

/** Images that were delivered while the ledger was away: `charge` (micro-units) is to be settled, not released. */
export interface OwedCharge {
  readonly charge: bigint;
  /** JSON of how it came about. */
  readonly basis: string;
  readonly upstream: UpstreamCost;
}

interface OwedDocument extends OwedCharge {
  readonly _id: string;
}

export type ImageLeaseStore = ReturnType<typeof createImageLeaseStore>;

/** The part of an image's id that names the lease of its process. */
export const imageLeaseIdLength = 16;

export function createImageLeaseStore(db: Db) {
  const leases = openCollection<LeaseDocument>(db, 'image_leases', durable);
  const owed = openCollection<OwedDocument>(db, 'image_charges_owed', durable);
  return {
    async insert({ id, process, from }: Omit<ImageLease, 'beat'>): Promise<void> {
      await leases.insertOne({ _id: id, process, from, beat: 0 });
    },

    /** False: the lease is gone or declared dead; its holds are closed by somebody else. */
    async renew(id: string, from: string): Promise<boolean> {
      const { matchedCount } = await leases.updateOne(
        { _id: id, dead: { $exists: false } },
        { $set: { from }, $inc: { beat: 1 } },
      );
      return matchedCount === 1;
    },

    async remove(id: string): Promise<void> {
      await leases.deleteOne({ _id: id });
    },

    /** One for each API process that lives, and for each that died and whose holds are not closed yet. */
    async *each(): AsyncIterable<ImageLease> {
      for await (const { _id: id, process, from, beat } of leases
        .find({ _id: { $gt: '' } })
        .sort({ _id: 1 })) {
        yield { id, process, from, beat };
      }
    },

    /** From now on its process no longer owns what it began. False: it was renewed since it was read. */
    async declareDead({ id, beat }: Pick<ImageLease, 'id' | 'beat'>): Promise<boolean> {
      const declared = await leases.updateOne({ _id: id, beat }, { $set: { dead: true } });
      return declared.matchedCount === 1;
    },

    /** Which of these images a lease covers, of a dead process too: what `ledger verify` asks. */
    async existing(images: readonly string[]): Promise<Set<string>> {
      const leaseOf = (image: string): string => image.slice(0, imageLeaseIdLength);
      const ids = [...new Set(images.map(leaseOf))];
      const found = await leases.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
      const known = new Set(found.map(({ _id }) => _id));
      return new Set(images.filter((image) => known.has(leaseOf(image))));
    },

    async owe(image: string, { charge, basis, upstream }: OwedCharge): Promise<void> {
      await owed.updateOne({ _id: image }, { $set: { charge, basis, upstream } }, { upsert: true });
    },

    async owedFor(image: string): Promise<OwedCharge | undefined> {
      const found = await owed.findOne({ _id: image });
      if (found === null) return undefined;
      const { charge, basis, upstream } = found;
      return { charge, basis, upstream };
    },

    async paid(image: string): Promise<void> {
      await owed.deleteOne({ _id: image });
    },
  };
}
