import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { Collection, Db } from 'mongodb';
import { durable, repeatOnDuplicate } from '../store/mongo.ts';

/**
 * Says up to when records of tasks may be missing that the ledger has entries of: they were removed on purpose. Raised
 * before the first of them is removed, and signed, so that whoever removes another one in MongoDB cannot say so too.
 */
export type RemovalMarks = ReturnType<typeof createRemovalMarks>;

interface MarkDocument {
  /** `tasks`, or `account/<id>`. */
  readonly _id: string;
  /** Unix milliseconds: a task that was closed in the ledger before then may have no record. */
  readonly before: number;
  /** HMAC-SHA-256 of both, 64 hexadecimal digits. */
  readonly signature: string;
}

const everything = 'tasks';
/** The ledger may be written a little later than the record, by another process's clock. */
const aheadMs = 3_600_000;

/** `key`: that of the entries' hashes. */
export function createRemovalMarks(db: Db, key: Uint8Array) {
  const marks: Collection<MarkDocument> = db.collection<MarkDocument>('removal_marks', durable);
  const secret = createSecretKey(key);

  function signatureOf(mark: string, before: number): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify(['removed', mark, before]))
      .digest('hex');
  }

  /** Never lowered. */
  async function raise(mark: string, before: number): Promise<void> {
    const $set = { before, signature: signatureOf(mark, before) };
    await repeatOnDuplicate(async () => {
      const raised = await marks.updateOne({ _id: mark, before: { $lt: before } }, { $set });
      if (raised.matchedCount === 1 || (await marks.findOne({ _id: mark })) !== null) return;
      await marks.insertOne({ _id: mark, ...$set });
    });
  }

  function isSigned({ _id, before, signature }: MarkDocument): boolean {
    const given = Buffer.from(signature, 'hex');
    const expected = Buffer.from(signatureOf(_id, before), 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  return {
    raiseForAll: (before: number) => raise(everything, before + aheadMs),
    raiseForAccount: (account: string, before: number) => raise(accountMark(account), before + aheadMs),

    /**
     * Unix milliseconds; 0: none of the account's records may be missing. A mark that is not ours, or that lies in the
     * future, counts for nothing.
     */
    async of(account: string, now: number): Promise<number> {
      const found = await marks.find({ _id: { $in: [everything, accountMark(account)] } }).toArray();
      const valid = found.filter((mark) => mark.before <= now + 2 * aheadMs && isSigned(mark));
      return Math.max(0, ...valid.map(({ before }) => before));
    },
  };
}

function accountMark(account: string): string {
  return `account/${account}`;
}
