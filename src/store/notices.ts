import type { Db } from 'mongodb';
import type { Notice } from '../base/notice.ts';
import { durable, ensureIndexes, openCollection, unlessThere } from './mongo.ts';

interface NoticeDocument extends Omit<Notice, 'id'> {
  readonly _id: string;
  /** Optimistic lock: every write checks that `rev` is unchanged. */
  readonly rev: number;
}

export interface KeptNotice {
  readonly notice: Notice;
  readonly rev: number;
}

/** Reads return only the open conditions and those of the last few days. This limits their number. */
const noticesMax = 2_000;

export type NoticeStore = ReturnType<typeof createNoticeStore>;

export function createNoticeStore(db: Db) {
  const notices = openCollection<NoticeDocument>(db, 'notices', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(notices, [{ name: 'state_revised', key: { state: 1, revisedAt: -1 } }]),

    async find(id: string): Promise<KeptNotice | undefined> {
      const found = await notices.findOne({ _id: id });
      return found === null ? undefined : toKept(found);
    },

    async list(state: Notice['state'], limit = noticesMax): Promise<KeptNotice[]> {
      const found = await notices.find({ state }).sort({ revisedAt: -1 }).limit(limit).toArray();
      return found.map(toKept);
    },

    async write({ id, ...notice }: Notice, before: KeptNotice | undefined): Promise<boolean> {
      if (before === undefined) return unlessThere(() => notices.insertOne({ _id: id, ...notice, rev: 1 }));
      const { rev } = before;
      const replaced = await notices.replaceOne({ _id: id, rev }, { ...notice, rev: rev + 1 });
      return replaced.matchedCount === 1;
    },

    async remove(id: string): Promise<void> {
      await notices.deleteOne({ _id: id });
    },

    async recordNotified(id: string, target: string, revision: number): Promise<void> {
      await notices.updateOne({ _id: id }, { $set: { [`notified.${target}`]: revision }, $inc: { rev: 1 } });
    },
  };
}

function toKept({ _id: id, rev, ...notice }: NoticeDocument): KeptNotice {
  return { rev, notice: { id, ...notice } };
}
