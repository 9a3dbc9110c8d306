import { defined } from '../base/defined.ts';
import type { Db, Filter } from 'mongodb';
import { createAnswerBodyStore } from './answer-bodies.ts';
import { durable, ensureIndexes, expiring, openCollection, unlessThere, updateWith } from './mongo.ts';
import type { Sealing } from './sealed-document.ts';

/**
 * The outcome of a request that a client may repeat, with an Idempotency-Key or because part of the response was lost.
 * A task is found by its id. Any other response exists only here, split into documents below MongoDB's limit of 16 MB.
 */
export interface RepeatRecord {
  /**
   * The HMAC of account, route and key, if the request has an idempotency key. Otherwise, `<HMAC of account, route and
   * body>/<made>`.
   */
  readonly id: string;
  /** The id of what the first request created: a task, or an image request as named in its ledger entry. */
  readonly made: string;
  readonly fingerprint: string;
  /** `stored` means that the response is kept but not yet paid for. */
  readonly state: 'running' | 'stored' | 'done';
  /**
   * Increases with each renewal. Waiting processes watch whether it changes, so their clocks need not agree with the
   * owner's.
   */
  readonly beat: number;
  readonly answer?: StoredAnswer;
  /** The id of the record that holds the response. Set only if this request repeats an earlier one. */
  readonly of?: string;
}

export interface AnswerHead {
  readonly status: number;
  /** False if an upstream may have accepted the request even though the response reports a failure. */
  readonly mayRetry: boolean;
}

interface StoredAnswer extends AnswerHead {
  readonly documents?: number;
  /** The size of the whole body. */
  readonly bytes?: number;
}

/** The record of a task has neither a state nor a response. It is treated as done, and the task is found by its id. */
interface RepeatDocument extends Pick<RepeatRecord, 'made' | 'fingerprint' | 'answer' | 'of'> {
  readonly _id: string;
  readonly lost?: true;
  readonly claimed?: true;
  readonly state?: RepeatRecord['state'];
  readonly beat?: number;
  /** Used by MongoDB's TTL index, and to recognise expired claims that the index has not removed yet. */
  readonly expires: Date;
}

/** Counts requests that were rejected before any work began, with an error that clients retry. */
interface RefusedDocument {
  readonly _id: string;
  readonly refused: number;
  readonly expires: Date;
}

export interface RepeatClaim extends Pick<RepeatRecord, 'id' | 'made' | 'fingerprint' | 'of'> {
  /**
   * Set if repeated requests must wait for the result. Requests that create a task need not wait, because the task's id
   * suffices.
   */
  readonly isAwaited?: true;
  readonly keptMs: number;
}

interface AnswerToStore extends AnswerHead {
  readonly body?: readonly Uint8Array[];
}

/** Identifies a record only while it still belongs to this request, because both fields must match. */
export type RepeatName = Pick<RepeatClaim, 'id' | 'made'>;

export type RepeatStore = ReturnType<typeof createRepeatStore>;

export function createRepeatStore(db: Db, now: () => number, sealing: Sealing) {
  const records = openCollection<RepeatDocument>(db, 'idempotency', durable);
  const refusals = openCollection<RefusedDocument>(db, 'idempotency', durable);
  const bodies = createAnswerBodyStore(db, sealing);
  const change = async ({ id, made }: RepeatName, fields: Partial<RepeatDocument>): Promise<void> => {
    await records.updateOne({ _id: id, made }, updateWith({ $set: fields }));
  };
  return {
    removeBodies: (made: readonly string[]): Promise<void> => bodies.removeMany(made),

    async ensureIndexes(): Promise<void> {
      await Promise.all([ensureIndexes(records, [expiring]), bodies.ensureIndexes()]);
    },

    /** Returns undefined if the caller now owns the claim. Otherwise, returns the earlier request's record. */
    async claim(claim: RepeatClaim): Promise<RepeatRecord | undefined> {
      const fresh = freshDocument(claim, now());
      for (;;) {
        if (await unlessThere(() => records.insertOne({ _id: claim.id, ...fresh }))) return undefined;
        const found = await records.findOne({ _id: claim.id });
        if (found === null) continue;
        if (found.expires.getTime() > now()) return toRecord(found);
        const taken = await records.replaceOne({ _id: claim.id, made: found.made }, fresh);
        if (taken.modifiedCount === 1) return undefined;
      }
    },

    /** `lost` means that the response did not arrive. Idempotent. */
    async note(claim: RepeatClaim, { lost }: { readonly lost: boolean }): Promise<void> {
      const update = updateWith({ $setOnInsert: freshDocument(claim, now()), $set: lost ? { lost } : {} });
      await records.updateOne({ _id: claim.id }, update, { upsert: true });
    },

    /**
     * Reads first, because most create requests have no unclaimed attempt to find, and even a no-op update waits for
     * majority acknowledgement.
     */
    async claimTry(name: string, { lost }: { readonly lost: boolean }): Promise<RepeatRecord | undefined> {
      if (!(await hasTry(name, { lost }))) return undefined;
      const found = await records.findOneAndUpdate(unclaimed(name, lost), { $set: { claimed: true } });
      return found === null ? undefined : toRecord(found);
    },

    hasTry,

    async addRefused(id: string, keptMs: number): Promise<void> {
      const expires = new Date(now() + keptMs);
      await refusals.updateOne({ _id: id }, { $inc: { refused: 1 }, $set: { expires } }, { upsert: true });
    },

    async takeRefused(id: string): Promise<boolean> {
      const filter = { _id: id, refused: { $gt: 0 }, expires: { $gt: new Date(now()) } };
      return (await refusals.updateOne(filter, { $inc: { refused: -1 } })).modifiedCount === 1;
    },

    async find(id: string): Promise<RepeatRecord | undefined> {
      const found = await records.findOne({ _id: id });
      return found === null || found.expires.getTime() <= now() ? undefined : toRecord(found);
    },

    async renew({ id, made }: RepeatName): Promise<void> {
      await records.updateOne({ _id: id, made }, { $inc: { beat: 1 } });
    },

    async store(name: RepeatName, { status, mayRetry, body }: AnswerToStore): Promise<void> {
      const { made } = name;
      const record = await records.findOne({ _id: name.id, made }, { projection: { expires: 1 } });
      if (record === null) return;
      const { expires } = record;
      const documents = body === undefined ? undefined : await bodies.write({ made, body, expires });
      const bytes = body?.reduce((sum, part) => sum + part.length, 0);
      await change(name, { state: 'stored', answer: { status, mayRetry, ...defined({ documents, bytes }) } });
    },

    complete: (name: RepeatName) => change(name, { state: 'done' }),

    /** Call this if no request was sent upstream. The key can then be used again. */
    async forget({ id, made }: RepeatName): Promise<void> {
      await records.deleteOne({ _id: id, made });
    },

    readBody: (made: string, documents: number) => bodies.read(made, documents),
  };

  async function hasTry(name: string, { lost }: { readonly lost: boolean }): Promise<boolean> {
    return (await records.findOne(unclaimed(name, lost), { projection: { _id: 1 } })) !== null;
  }

  function unclaimed(name: string, lost: boolean): Filter<RepeatDocument> {
    return {
      _id: { $gt: `${name}/`, $lt: `${name}0` },
      claimed: { $exists: false },
      expires: { $gt: new Date(now()) },
      ...(lost ? { lost: true as const } : {}),
    };
  }
}

function freshDocument(claim: RepeatClaim, at: number): Omit<RepeatDocument, '_id'> {
  const { made, fingerprint, of, isAwaited } = claim;
  return {
    made,
    fingerprint,
    ...defined({ of }),
    ...(isAwaited === true ? { state: 'running', beat: 0 } : {}),
    expires: new Date(at + claim.keptMs),
  };
}

function toRecord({
  _id: id,
  expires: _e,
  lost: _l,
  claimed: _c,
  ...document
}: RepeatDocument): RepeatRecord {
  return { id, state: 'done', beat: 0, ...document };
}
