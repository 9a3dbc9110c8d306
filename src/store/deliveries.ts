import type { Collection, Db } from 'mongodb';
import { defined } from '../domain/defined.ts';
import { ownCallbackRound } from '../domain/ids.ts';
import { ensureIndexes, isDuplicateKey } from './mongo.ts';

/** The record of a task's callback: every attempt, newest last. */
export interface CallbackDelivery {
  readonly task: string;
  readonly state: DeliveryState;
  /** Only scheme and host: the rest of a caller's address may hold secrets. */
  readonly target: string;
  readonly attempts: readonly DeliveryAttempt[];
}

export type DeliveryState = 'pending' | 'delivered' | 'gave_up';

export interface DeliveryAttempt {
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status of the answer; absent: there was none. */
  readonly status?: number;
  readonly error?: string;
}

/** A series of attempts at a task's callback. */
export interface DeliveryRound {
  readonly task: string;
  readonly round: string;
  readonly target: string;
}

interface DeliveryDocument {
  /** The task. */
  readonly _id: string;
  readonly state: DeliveryState;
  readonly target: string;
  readonly attempts: readonly AttemptDocument[];
  /** The series of attempts that is in force: the task's own, or one on demand. */
  readonly round: string;
  /** Attempts of this round that were begun; each is counted before its request leaves. */
  readonly begun: number;
  /** The rounds that this one replaced, newest last: none of them sends again. */
  readonly replaced?: readonly string[];
  /** The task again, while the callback is abandoned: what operators list, in an index of few. */
  readonly gave_up?: string;
}

interface AttemptDocument {
  readonly at: number;
  readonly duration_ms: number;
  readonly status?: number;
  readonly error?: string;
}

const attemptsMax = 50;
const replacedMax = 50;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Db) {
  const deliveries: Collection<DeliveryDocument> = db.collection<DeliveryDocument>('deliveries');
  return {
    ...abandonedCallbacks(deliveries),

    /**
     * Counts an attempt before its request leaves, so that one whose process died counts too. Resolves with its number
     * in this round, from 1; undefined: this round has delivered the callback already, or a newer one has replaced it.
     * One round is in force at a time: two that counted in turns would never reach their end.
     */
    async begin(task: string, round: string, target: string): Promise<number | undefined> {
      for (;;) {
        const counted = await countRequest(deliveries, { task, round, target });
        if (counted !== undefined) return counted;
        const known = await deliveries.findOne({ _id: task });
        if (known === null) continue;
        if (isOver(known, round)) return undefined;
        // Another run of the same round was faster.
        if (known.round === round) continue;
        await deliveries.updateOne(
          { _id: task, round: known.round },
          {
            $set: { round, begun: 0, state: 'pending' },
            $unset: { gave_up: '' },
            $push: { replaced: { $each: [known.round], $slice: -replacedMax } },
          },
        );
      }
    },

    /**
     * How an attempt ended; repeating it with the same `at` records it once. Only the round in force says what became
     * of the callback: the late answer to a replaced one is listed, and changes nothing else.
     */
    async record(
      { task, round, target }: DeliveryRound,
      { durationMs, ...attempt }: DeliveryAttempt,
      state: DeliveryState,
    ): Promise<void> {
      const entry = { ...attempt, duration_ms: durationMs };
      const isNew = { 'attempts.at': { $ne: attempt.at } };
      const $push = { attempts: { $each: [entry], $slice: -attemptsMax } };
      const inForce = await deliveries.updateOne(
        { _id: task, round, ...isNew },
        state === 'gave_up'
          ? { $set: { state, target, gave_up: task }, $push }
          : { $set: { state, target }, $unset: { gave_up: '' }, $push },
      );
      if (inForce.matchedCount === 1) return;
      await deliveries.updateOne({ _id: task, round: { $ne: round }, ...isNew }, { $push });
    },

    /** The round is over without success, whether or not its last attempt could be recorded. */
    async abandon(task: string, round: string): Promise<void> {
      await deliveries.updateOne(
        { _id: task, round, state: 'pending' },
        { $set: { state: 'gave_up', gave_up: task } },
      );
    },

    async find(task: string): Promise<CallbackDelivery | undefined> {
      const found = await deliveries.findOne({ _id: task });
      return found === null ? undefined : toDelivery(found);
    },
  };
}

/** Undefined: another round is in force, or this one has delivered. The first request of a task needs no more than this. */
async function countRequest(
  deliveries: Collection<DeliveryDocument>,
  { task, round, target }: DeliveryRound,
): Promise<number | undefined> {
  try {
    const counted = await deliveries.findOneAndUpdate(
      { _id: task, round, state: { $ne: 'delivered' } },
      { $inc: { begun: 1 }, $set: { target }, $setOnInsert: { state: 'pending', attempts: [] } },
      { upsert: true, returnDocument: 'after' },
    );
    return counted?.begun;
  } catch (error) {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
}

function abandonedCallbacks(deliveries: Collection<DeliveryDocument>) {
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(deliveries, [{ key: { gave_up: 1 }, name: 'gave_up', sparse: true }]);
    },

    /** Tasks whose callback was abandoned, by id, behind `after`: a task that leaves the list moves no other. */
    async abandoned(limit: number, after: string = ''): Promise<string[]> {
      const found = deliveries.find({ gave_up: { $gt: after } }).sort({ gave_up: 1 });
      return (await found.limit(limit).toArray()).map(({ _id }) => _id);
    },
  };
}

/** Whether the round sends no more: it has delivered, or is older than the one in force. */
function isOver(known: DeliveryDocument, round: string): boolean {
  if (known.round === round) return known.state === 'delivered';
  return round === ownCallbackRound || known.replaced?.includes(round) === true;
}

function toDelivery({ _id: task, state, target, attempts }: DeliveryDocument): CallbackDelivery {
  return { task, state, target, attempts: attempts.map(toAttempt) };
}

function toAttempt({ at, duration_ms: durationMs, status, error }: AttemptDocument): DeliveryAttempt {
  return { at, durationMs, ...defined({ status, error }) };
}
