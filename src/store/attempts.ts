import type { Collection, Db } from 'mongodb';
import type { Operation } from '../providers/provider.ts';
import { attemptId } from '../domain/ids.ts';
import { ensureIndexes, isDuplicateKey } from './mongo.ts';

/**
 * One upstream submission. Written before the request leaves and again when the answer is read: a process that dies
 * in between leaves `sending`, which means that the job may exist upstream and may be billed.
 */
export interface AttemptDocument {
  /** `<task>:<n>` */
  readonly _id: string;
  readonly task: string;
  readonly n: number;
  readonly state: AttemptState;
  readonly channel: string;
  readonly credential: string;
  readonly marker: string;
  readonly started_at: number;
  readonly ended_at?: number;
  readonly operation?: Operation;
  /** Unique: no upstream job belongs to two attempts. */
  readonly upstream_id?: string;
  readonly code?: string;
  readonly message?: string;
}

/** `not_accepted`: certainly not, so the same attempt may be sent again. */
export type AttemptState = 'sending' | 'accepted' | 'not_accepted' | 'rejected' | 'ambiguous';

export interface NewAttempt {
  readonly task: string;
  readonly n: number;
  readonly channel: string;
  readonly credential: string;
  readonly marker: string;
}

export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(db: Db, now: () => number) {
  const attempts: Collection<AttemptDocument> = db.collection<AttemptDocument>('attempts');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(attempts, [
        { key: { task: 1, n: 1 }, name: 'task_n' },
        { key: { upstream_id: 1 }, name: 'upstream_id', unique: true, sparse: true },
      ]);
    },

    /**
     * Claims the right to send. Undefined: it is ours, send. Otherwise the attempt was begun before, and the
     * document says how far it came; one that is certainly not accepted is claimed again.
     */
    async begin(attempt: NewAttempt): Promise<AttemptDocument | undefined> {
      const id = attemptId(attempt.task, attempt.n);
      try {
        await attempts.insertOne({ _id: id, ...attempt, state: 'sending', started_at: now() });
        return undefined;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      const reclaimed = await attempts.updateOne(
        { _id: id, state: 'not_accepted' },
        { $set: { state: 'sending', started_at: now() }, $unset: { ended_at: '', code: '', message: '' } },
      );
      if (reclaimed.modifiedCount === 1) return undefined;
      return (await attempts.findOne({ _id: id }, { readConcern: 'majority' })) ?? undefined;
    },

    /** False: another attempt holds this upstream job already. */
    async accept(id: string, operation: Operation): Promise<boolean> {
      try {
        await attempts.updateOne(
          { _id: id },
          { $set: { state: 'accepted', operation, upstream_id: operation.id, ended_at: now() } },
        );
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async end(
      id: string,
      state: AttemptState,
      word: { readonly code: string; readonly message: string },
    ): Promise<void> {
      await attempts.updateOne({ _id: id }, { $set: { state, ...word, ended_at: now() } });
    },

    async find(id: string): Promise<AttemptDocument | undefined> {
      return (await attempts.findOne({ _id: id }, { readConcern: 'majority' })) ?? undefined;
    },

    async ofTask(task: string): Promise<AttemptDocument[]> {
      return attempts.find({ task }).sort({ n: 1 }).toArray();
    },

    async findByUpstreamId(upstreamId: string): Promise<AttemptDocument | undefined> {
      return (await attempts.findOne({ upstream_id: upstreamId })) ?? undefined;
    },
  };
}
