import type { Collection, Db } from 'mongodb';
import { ensureIndexes } from './mongo.ts';

/**
 * Which process is responsible for the holds of synchronous images: one document for each API process, written before
 * its first hold and renewed while it lives. One that ran out belongs to a process that died.
 */
export interface ImageLease {
  /** What the ids of the process's images begin with. */
  readonly id: string;
  /** For people. */
  readonly process: string;
  /** The first id that the process may still be at work on; it has finished all before. */
  readonly from: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

interface LeaseDocument {
  readonly _id: string;
  readonly process: string;
  readonly from: string;
  readonly expires_at: number;
  /** Another process closes the holds of this one: its lease can no longer be renewed. */
  readonly dead?: true;
}

/** Images that were delivered while the ledger was away: `charge` (micro-units) is to be settled, not released. */
interface OwedDocument {
  readonly _id: string;
  readonly charge: bigint;
}

export type ImageLeaseStore = ReturnType<typeof createImageLeaseStore>;

/** The part of an image's id that names the lease of its process. */
export const imageLeaseIdLength = 16;

export function createImageLeaseStore(db: Db) {
  const leases: Collection<LeaseDocument> = db.collection<LeaseDocument>('image_leases');
  const owed: Collection<OwedDocument> = db.collection<OwedDocument>('image_charges_owed');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(leases, [{ name: 'expires_at', key: { expires_at: 1 } }]);
    },

    async insert({ id, process, from, expiresAt }: ImageLease): Promise<void> {
      await leases.insertOne({ _id: id, process, from, expires_at: expiresAt });
    },

    /** False: the lease is gone or declared dead; its holds are closed by somebody else. */
    async renew(id: string, { from, expiresAt }: Pick<ImageLease, 'from' | 'expiresAt'>): Promise<boolean> {
      const { matchedCount } = await leases.updateOne(
        { _id: id, dead: { $exists: false } },
        { $set: { from, expires_at: expiresAt } },
      );
      return matchedCount === 1;
    },

    async remove(id: string): Promise<void> {
      await leases.deleteOne({ _id: id });
    },

    /** Leases that ran out before this by their writers' clocks, which may differ from ours. */
    async expired(before: number, limit: number): Promise<ImageLease[]> {
      const found = await leases
        .find({ expires_at: { $lt: before } })
        .limit(limit)
        .toArray();
      return found.map(({ _id: id, process, from, expires_at: expiresAt }) => ({
        id,
        process,
        from,
        expiresAt,
      }));
    },

    /** From now on its process no longer owns what it began. False: it was renewed since it was read. */
    async declareDead({ id, expiresAt }: Pick<ImageLease, 'id' | 'expiresAt'>): Promise<boolean> {
      const declared = await leases.updateOne({ _id: id, expires_at: expiresAt }, { $set: { dead: true } });
      return declared.matchedCount === 1;
    },

    /** Which of these images a lease covers, expired or not: what `ledger verify` asks. */
    async existing(images: readonly string[]): Promise<Set<string>> {
      const leaseOf = (image: string): string => image.slice(0, imageLeaseIdLength);
      const ids = [...new Set(images.map(leaseOf))];
      const found = await leases.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
      const known = new Set(found.map(({ _id }) => _id));
      return new Set(images.filter((image) => known.has(leaseOf(image))));
    },

    async owe(image: string, charge: bigint): Promise<void> {
      await owed.updateOne({ _id: image }, { $set: { charge } }, { upsert: true });
    },

    async owedFor(image: string): Promise<bigint | undefined> {
      return (await owed.findOne({ _id: image }, { readConcern: 'majority' }))?.charge;
    },

    async paid(image: string): Promise<void> {
      await owed.deleteOne({ _id: image });
    },
  };
}
