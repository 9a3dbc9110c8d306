import { defined } from '../base/defined.ts';
import type { Db, Filter } from 'mongodb';
import { createAnswerBodyStore } from './answer-bodies.ts';
import { durable, ensureIndexes, expiring, openCollection, unlessThere, updateWith } from './mongo.ts';
import type { Sealing } from './sealed-document.ts';

/**
 * The outcome of a request that may be repeated: by its Idempotency-Key, or by a client that repeats what it did not
 * hear the end of. A task is found by its id; an answer that exists nowhere else is kept here, cut into documents well
 * below MongoDB's 16 MB.
 */
export interface RepeatRecord {
  /** For a key, the HMAC of account, route and key. For a try, `<HMAC of account, route and body>/<what it made>`. */
  readonly id: string;
  /** Id of what the first request makes: a task, or the image request of a ledger entry. */
  readonly made: string;
  /** Of the request. */
  readonly fingerprint: string;
  /** `stored`: the answer is there, and not yet paid for. */
  readonly state: 'running' | 'stored' | 'done';
  /**
   * Incremented by each renewal while `running` or `stored`. Waiting processes watch it change, so their clocks need
   * not agree with the owner's.
   */
  readonly beat: number;
  readonly answer?: StoredAnswer;
  /** Of a try that repeats another one: the id of the record that has the answer. */
  readonly of?: string;
}

/** What is kept of an answer beside its body. */
export interface AnswerHead {
  readonly status: number;
  /** False: an upstream may have accepted what this answer says failed. */
  readonly mayRetry: boolean;
}

interface StoredAnswer extends AnswerHead {
  /** Documents of the body; absent: it was too large to keep. */
  readonly documents?: number;
}

/** That of a task has neither a state nor an answer: it is done, and the task is found by its id. */
interface RepeatDocument extends Pick<RepeatRecord, 'made' | 'fingerprint' | 'answer' | 'of'> {
  readonly _id: string;
  /** Of a client's try: its answer did not arrive, as far as this side knows. */
  readonly lost?: true;
  /** Of a client's try: a later one repeats it. */
  readonly claimed?: true;
  readonly state?: RepeatRecord['state'];
  readonly beat?: number;
  /** For MongoDB's TTL, which only tidies up. */
  readonly expires: Date;
}

/** Retries that were refused before anything was begun for them, by the name of their request. */
interface RefusedDocument {
  readonly _id: string;
  readonly refused: number;
  readonly expires: Date;
}

export interface RepeatClaim extends Pick<RepeatRecord, 'id' | 'made' | 'fingerprint' | 'of'> {
  /** Set if repeats wait for the result. Not set for a task, because a repeat needs only its id. */
  readonly isAwaited?: true;
  /** For how long a repeat is recognised. */
  readonly keptMs: number;
}

interface AnswerToStore extends AnswerHead {
  /** Absent: too large to keep. */
  readonly body?: readonly Uint8Array[];
}

/** Selects a record only while it still belongs to this request: both fields must match. */
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
    /** Deletes the stored answers of these ids. */
    removeBodies: (made: readonly string[]): Promise<void> => bodies.removeMany(made),

    async ensureIndexes(): Promise<void> {
      await Promise.all([ensureIndexes(records, [expiring]), bodies.ensureIndexes()]);
    },

    /** Undefined: the claim is the caller's. Otherwise the record of an earlier request. */
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

    /** Records a client's try. `lost`: its answer did not arrive. Repeatable. */
    async note(claim: RepeatClaim, { lost }: { readonly lost: boolean }): Promise<void> {
      const update = updateWith({ $setOnInsert: freshDocument(claim, now()), $set: lost ? { lost } : {} });
      await records.updateOne({ _id: claim.id }, update, { upsert: true });
    },

    /**
     * A try of this name that nobody has claimed; it is claimed by this call. Looks first: most creates find none, and
     * an update that changes nothing would still wait for the majority.
     */
    async claimTry(name: string, { lost }: { readonly lost: boolean }): Promise<RepeatRecord | undefined> {
      if (!(await hasTry(name, { lost }))) return undefined;
      const found = await records.findOneAndUpdate(unclaimed(name, lost), { $set: { claimed: true } });
      return found === null ? undefined : toRecord(found);
    },

    hasTry,

    /** One more request of this name was refused with an error that its client retries. */
    async addRefused(id: string, keptMs: number): Promise<void> {
      const expires = new Date(now() + keptMs);
      await refusals.updateOne({ _id: id }, { $inc: { refused: 1 }, $set: { expires } }, { upsert: true });
    },

    /** Uses up one recorded refusal of this name. False if none is left. */
    async takeRefused(id: string): Promise<boolean> {
      const filter = { _id: id, refused: { $gt: 0 }, expires: { $gt: new Date(now()) } };
      return (await refusals.updateOne(filter, { $inc: { refused: -1 } })).modifiedCount === 1;
    },

    async find(id: string): Promise<RepeatRecord | undefined> {
      const found = await records.findOne({ _id: id });
      return found === null || found.expires.getTime() <= now() ? undefined : toRecord(found);
    },

    /** Its process lives. */
    async renew({ id, made }: RepeatName): Promise<void> {
      await records.updateOne({ _id: id, made }, { $inc: { beat: 1 } });
    },

    /** Keeps the answer; nobody is given it before `complete`. Repeatable. */
    async store(name: RepeatName, { status, mayRetry, body }: AnswerToStore): Promise<void> {
      const { made } = name;
      const record = await records.findOne({ _id: name.id, made }, { projection: { expires: 1 } });
      if (record === null) return;
      const { expires } = record;
      const documents = body === undefined ? undefined : await bodies.write({ made, body, expires });
      await change(name, { state: 'stored', answer: { status, mayRetry, ...defined({ documents }) } });
    },

    complete: (name: RepeatName) => change(name, { state: 'done' }),

    /** The same key may be used again: nothing was sent. */
    async forget({ id, made }: RepeatName): Promise<void> {
      await records.deleteOne({ _id: id, made });
    },

    /** Throws when a part is missing. */
    readBody: (made: string, documents: number) => bodies.read(made, documents),
  };

  /** Whether a try of this name could be claimed. */
  async function hasTry(name: string, { lost }: { readonly lost: boolean }): Promise<boolean> {
    return (await records.findOne(unclaimed(name, lost), { projection: { _id: 1 } })) !== null;
  }

  /** Ids of tries begin with their name. */
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
