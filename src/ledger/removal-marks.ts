import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { Db } from 'mongodb';
import { durable, openCollection, repeatOnDuplicate } from '../store/mongo.ts';

/**
 * A mark states that task records older than a given time were removed on purpose, so `ledger verify` does not report
 * them as missing. It is written before the first record is removed. It is signed, because someone with access to
 * MongoDB could otherwise hide other removals.
 */
export type RemovalMarks = ReturnType<typeof createRemovalMarks>;

interface MarkDocument {
  readonly _id: string;
  /** Unix milliseconds. A task that the ledger closed before this time may have no record. */
  readonly before: number;
  readonly signature: string;
}

const everything = 'tasks';
/** A ledger entry may be dated this much later than its record, because the dates come from different clocks. */
const aheadMs = 3_600_000;

export function createRemovalMarks(db: Db, key: Uint8Array) {
  const marks = openCollection<MarkDocument>(db, 'removal_marks', durable);
  const secret = createSecretKey(key);

  function signatureOf(mark: string, before: number): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify(['removed', mark, before]))
      .digest('hex');
  }

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
     * Returns the time, in Unix milliseconds, before which the account's records may be missing, or 0 if none may be
     * missing. A mark that has an invalid signature or lies in the future is ignored.
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
