import type { Collection, Db } from 'mongodb';

/** The record of a task's callback: every attempt, newest last. `_id` is the task. */
export interface DeliveryDocument {
  readonly _id: string;
  readonly state: 'pending' | 'delivered' | 'gave_up';
  /** Only scheme and host: the rest of a caller's address may hold secrets. */
  readonly target: string;
  readonly attempts: readonly DeliveryAttempt[];
}

export interface DeliveryAttempt {
  readonly at: number;
  readonly duration_ms: number;
  /** HTTP status of the answer; absent: there was none. */
  readonly status?: number;
  readonly error?: string;
}

const attemptsMax = 50;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Db) {
  const deliveries: Collection<DeliveryDocument> = db.collection<DeliveryDocument>('deliveries');
  return {
    async record(
      task: string,
      target: string,
      attempt: DeliveryAttempt,
      state: DeliveryDocument['state'],
    ): Promise<void> {
      await deliveries.updateOne(
        { _id: task },
        { $set: { state, target }, $push: { attempts: { $each: [attempt], $slice: -attemptsMax } } },
        { upsert: true },
      );
    },

    async find(task: string): Promise<DeliveryDocument | undefined> {
      return (await deliveries.findOne({ _id: task })) ?? undefined;
    },
  };
}
