import type { Collection, Db } from 'mongodb';
import { defined } from '../domain/defined.ts';
import type { Notice } from '../domain/notice.ts';
import { durable, ensureIndexes, isDuplicateKey } from './mongo.ts';

interface NoticeDocument extends Omit<Notice, 'id'> {
  readonly _id: string;
  /** Each write guards against the one before. */
  readonly rev: number;
}

/** Whose turn it is to look: one process of all. */
interface TurnDocument {
  readonly _id: 'turn';
  readonly turn: number;
}

/** A notice as it was read; written back only if nobody has written it since. */
export interface KeptNotice {
  readonly notice: Notice;
  readonly rev: number;
}

/** A bound for the read; as many as there are conditions in force and over the last days. */
const noticesMax = 2_000;

export type NoticeStore = ReturnType<typeof createNoticeStore>;

export function createNoticeStore(db: Db) {
  const notices: Collection<NoticeDocument> = db.collection<NoticeDocument>('notices', durable);
  const turns: Collection<TurnDocument> = db.collection<TurnDocument>('notice_turns', durable);
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(notices, [{ name: 'state_revised', key: { state: 1, revisedAt: -1 } }]);
    },

    async find(id: string): Promise<KeptNotice | undefined> {
      const found = await notices.findOne({ _id: id });
      return found === null ? undefined : toKept(found);
    },

    /** Those of a state, the last changed first. */
    async list(state: Notice['state'], limit = noticesMax): Promise<KeptNotice[]> {
      const found = await notices.find({ state }).sort({ revisedAt: -1 }).limit(limit).toArray();
      return found.map(toKept);
    },

    /** False: another process was first. */
    async write({ id, ...notice }: Notice, before: KeptNotice | undefined): Promise<boolean> {
      if (before === undefined) {
        try {
          await notices.insertOne({ _id: id, ...notice, rev: 1 });
          return true;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
          return false;
        }
      }
      const { rev } = before;
      const replaced = await notices.replaceOne({ _id: id, rev }, { ...notice, rev: rev + 1 });
      return replaced.matchedCount === 1;
    },

    /** Notes what a target was told. */
    async recordTold(id: string, target: string, revision: number): Promise<void> {
      await notices.updateOne({ _id: id }, { $set: { [`told.${target}`]: revision }, $inc: { rev: 1 } });
    },

    /** Whoever had the last turn has it again, or lets it lie; 0: nobody ever had one. */
    async turn(): Promise<number> {
      return (await turns.findOne({ _id: 'turn' }))?.turn ?? 0;
    },

    /** True: the turn after the one seen is ours. */
    async takeTurn(seen: number): Promise<boolean> {
      try {
        const guard =
          seen === 0
            ? { _id: 'turn' as const, turn: { $exists: false } }
            : { _id: 'turn' as const, turn: seen };
        const taken = await turns.updateOne(guard, { $set: { turn: seen + 1 } }, { upsert: seen === 0 });
        return taken.matchedCount + taken.upsertedCount === 1;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },
  };
}

function toKept({ _id: id, rev, ...fields }: NoticeDocument): KeptNotice {
  const { kind, subject, count, text, state, since, endedAt, revision, revisedAt, missed, told } = fields;
  const known = { id, kind, subject, count, text, state, since, revision, revisedAt, missed, told };
  return { rev, notice: { ...known, ...defined({ endedAt }) } };
}
