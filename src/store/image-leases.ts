import type { Db } from 'mongodb';
import type { UpstreamCost } from '../task/cost.ts';
import { durable, openCollection } from './mongo.ts';

/**
 * An API process's claim on the holds of its synchronous images. It writes the lease before its first hold and renews
 * it for as long as it lives.
 */
export interface ImageLease {
  /** The ids of this process's images start with this. */
  readonly id: string;
  readonly process: string;
  /** All images with smaller ids are finished. */
  readonly from: string;
  readonly beat: number;
}

interface LeaseDocument extends Omit<ImageLease, 'id'> {
  readonly _id: string;
  /** Set when another process starts to close this process's holds. The lease can then no longer be renewed. */
  readonly dead?: true;
}

/**
 * Images were delivered while the ledger was unavailable, so their hold must still be settled, not released. `charge`
 * is in micro-units.
 */
export interface OwedCharge {
  readonly charge: bigint;
  readonly basis: string;
  readonly upstream: UpstreamCost;
}

interface OwedDocument extends OwedCharge {
  readonly _id: string;
}

export type ImageLeaseStore = ReturnType<typeof createImageLeaseStore>;

export const imageLeaseIdLength = 16;

export function createImageLeaseStore(db: Db) {
  const leases = openCollection<LeaseDocument>(db, 'image_leases', durable);
  const owed = openCollection<OwedDocument>(db, 'image_charges_owed', durable);
  return {
    async insert({ id, process, from }: Omit<ImageLease, 'beat'>): Promise<void> {
      await leases.insertOne({ _id: id, process, from, beat: 0 });
    },

    /** Returns false if the lease is missing or was declared dead, in which case another process closes its holds. */
    async renew(id: string, from: string): Promise<boolean> {
      const { matchedCount } = await leases.updateOne(
        { _id: id, dead: { $exists: false } },
        { $set: { from }, $inc: { beat: 1 } },
      );
      return matchedCount === 1;
    },

    /**
     * Call this once all holds of the lease are closed. Also removes owed charges that remain because a process died
     * just after writing them to the ledger.
     */
    async remove(id: string): Promise<void> {
      await owed.deleteMany({ _id: { $gte: id, $lt: `${id}~` } });
      await leases.deleteOne({ _id: id });
    },

    async *each(): AsyncIterable<ImageLease> {
      for await (const { _id: id, process, from, beat } of leases
        .find({ _id: { $gt: '' } })
        .sort({ _id: 1 })) {
        yield { id, process, from, beat };
      }
    },

    /**
     * Returns false if the lease has been renewed since it was read. After true, the caller must close the dead
     * process's holds.
     */
    async declareDead({ id, beat }: Pick<ImageLease, 'id' | 'beat'>): Promise<boolean> {
      const declared = await leases.updateOne({ _id: id, beat }, { $set: { dead: true } });
      return declared.matchedCount === 1;
    },

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
