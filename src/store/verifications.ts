import type { Db } from 'mongodb';
import type { VerificationSummary } from '../reports/census.ts';
import { durable, openCollection, repeatOnDuplicate } from './mongo.ts';

interface VerificationDocument extends VerificationSummary {
  readonly _id: 'last';
}

export type VerificationStore = ReturnType<typeof createVerificationStore>;

export function createVerificationStore(db: Db) {
  const verifications = openCollection<VerificationDocument>(db, 'ledger_verifications', durable);
  return {
    async last(): Promise<VerificationSummary | undefined> {
      const found = await verifications.findOne({ _id: 'last' });
      if (found === null) return undefined;
      const { startedAt, endedAt, violations } = found;
      return { startedAt, endedAt, violations };
    },

    async record(summary: VerificationSummary): Promise<void> {
      await repeatOnDuplicate(() =>
        verifications.replaceOne({ _id: 'last' }, { ...summary }, { upsert: true }),
      );
    },
  };
}
