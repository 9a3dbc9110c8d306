import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { Db } from 'mongodb';
import { durable, openCollection, repeatOnDuplicate } from '../store/mongo.ts';

/**
 * Records the time before which task records may be missing although the ledger has their entries, because they were
 * removed on purpose. A mark is raised before the first record is removed. It is signed, so that nobody can forge it to
 * hide another record's removal in MongoDB.
 */
export type RemovalMarks = ReturnType<typeof createRemovalMarks>;

interface MarkDocument {
  /** The mark's name: `tasks` or `account/<id>`. */
  readonly _id: string;
  /** The time in Unix milliseconds. A task that the ledger closed earlier may have no record. */
  readonly before: number;
  /** The HMAC-SHA-256 of both fields as 64 hexadecimal digits. */
  readonly signature: string;
}

const everything = 'tasks';
/** How much later the ledger entry may be than the record, because another process's clock dates it. */
const aheadMs = 3_600_000;

/** `key` is the entry hash key. */
export function createRemovalMarks(db: Db, key: Uint8Array) {
  const marks = openCollection<MarkDocument>(db, 'removal_marks', durable);
  const secret = createSecretKey(key);

  function signatureOf(mark: string, before: number): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify(['removed', mark, before]))
      .digest('hex');
  }

  /** Raises the mark. It is never lowered. */
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
     * Returns the time in Unix milliseconds, or 0 if none of the account's records may be missing. Ignores a mark with
     * an invalid signature or a future time.
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
