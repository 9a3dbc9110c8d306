import type { Collection, Db } from 'mongodb';
import { ensureIndexes } from './mongo.ts';

/**
 * Who looks after the hold of a synchronous image: written before the hold, renewed while the upstream renders, gone
 * after it was settled or released. One that ran out belongs to a process that died.
 */
export interface Lease {
  /** Id of the image request: the task of its hold. */
  readonly image: string;
  readonly account: string;
  /** Of the process, for people. */
  readonly process: string;
  /** `delivered`: the images came and the ledger could not be reached: `charge` is to be settled. */
  readonly state: 'open' | 'delivered';
  /** Micro-units. */
  readonly hold: bigint;
  readonly charge?: bigint;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

interface LeaseDocument {
  readonly _id: string;
  readonly account: string;
  readonly process: string;
  readonly state: Lease['state'];
  readonly hold: bigint;
  readonly charge?: bigint;
  readonly expires_at: number;
}

export type LeaseStore = ReturnType<typeof createLeaseStore>;

export function createLeaseStore(db: Db) {
  const leases: Collection<LeaseDocument> = db.collection<LeaseDocument>('leases');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(leases, [{ name: 'expires_at', key: { expires_at: 1 } }]);
    },

    async insert({ image, expiresAt, ...lease }: Lease): Promise<void> {
      await leases.insertOne({ _id: image, ...lease, expires_at: expiresAt });
    },

    /** False: the lease is gone, somebody released the hold. */
    async renew(image: string, expiresAt: number): Promise<boolean> {
      const { matchedCount } = await leases.updateOne({ _id: image }, { $set: { expires_at: expiresAt } });
      return matchedCount === 1;
    },

    /** From now on whoever finds the lease settles instead of releasing. */
    async markDelivered(image: string, charge: bigint): Promise<void> {
      await leases.updateOne({ _id: image }, { $set: { state: 'delivered', charge } });
    },

    async remove(image: string): Promise<void> {
      await leases.deleteOne({ _id: image });
    },

    async find(image: string): Promise<Lease | undefined> {
      const found = await leases.findOne({ _id: image }, { readConcern: 'majority' });
      return found === null ? undefined : toLease(found);
    },

    /** Which of these images a lease looks after, expired or not: what `ledger verify` asks. */
    async existing(images: readonly string[]): Promise<Set<string>> {
      const found = await leases.find({ _id: { $in: [...images] } }, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => _id));
    },

    async listExpired(before: number, limit: number): Promise<Lease[]> {
      const found = await leases
        .find({ expires_at: { $lt: before } })
        .limit(limit)
        .toArray();
      return found.map(toLease);
    },
  };
}

function toLease({ _id, expires_at, ...lease }: LeaseDocument): Lease {
  return { image: _id, ...lease, expiresAt: expires_at };
}
