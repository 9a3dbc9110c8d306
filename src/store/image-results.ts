import { defined } from '../domain/defined.ts';
import { Binary } from 'mongodb';
import type { Collection, Db } from 'mongodb';
import { ensureIndexes, isDuplicateKey } from './mongo.ts';

/**
 * What an Idempotency-Key of an image create made: who is at it, and the answer, kept for a caller whose connection
 * broke. A body is cut into documents well below MongoDB's 16 MB.
 */
export interface ImageResult {
  /** HMAC of account, route and key. */
  readonly id: string;
  readonly image: string;
  /** Of the request. */
  readonly fingerprint: string;
  /** `stored`: the answer is there, and not yet paid for. */
  readonly state: 'running' | 'stored' | 'done';
  /** While `running` or `stored`: until when its process is known to live. Unix milliseconds. */
  readonly aliveUntil: number;
  readonly answer?: StoredAnswer;
}

export interface StoredAnswer {
  readonly status: number;
  /** An upstream may have accepted what this answer says failed. */
  readonly mayRetry: boolean;
  /** Documents of the body; absent: it was too large to keep. */
  readonly documents?: number;
}

interface ResultDocument {
  readonly _id: string;
  readonly image: string;
  readonly fingerprint: string;
  readonly state: ImageResult['state'];
  readonly alive_until: number;
  readonly status?: number;
  readonly may_retry?: boolean;
  readonly documents?: number;
  readonly created_at: number;
  /** For MongoDB's TTL, which only tidies up. */
  readonly expires: Date;
}

interface BodyDocument {
  /** `<image>/<n>` */
  readonly _id: string;
  readonly data: Binary;
  readonly expires: Date;
}

export interface ResultClaim {
  readonly id: string;
  readonly image: string;
  readonly fingerprint: string;
  readonly aliveUntil: number;
  /** For how long the answer is kept. */
  readonly keptMs: number;
}

export interface AnswerToStore {
  readonly status: number;
  readonly mayRetry: boolean;
  /** Absent: too large to keep. */
  readonly body?: readonly Uint8Array[];
}

const documentBytes = 4 * 1024 * 1024;

export type ImageResultStore = ReturnType<typeof createImageResultStore>;

export function createImageResultStore(db: Db, now: () => number) {
  const results: Collection<ResultDocument> = db.collection<ResultDocument>('image_results');
  const bodies: Collection<BodyDocument> = db.collection<BodyDocument>('image_result_bodies');
  return {
    async ensureIndexes(): Promise<void> {
      const expiry = [{ name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 }] as const;
      await Promise.all([ensureIndexes(results, expiry), ensureIndexes(bodies, expiry)]);
    },

    /** Undefined: the claim is the caller's. Else what an earlier one made of the key. */
    async claim(claim: ResultClaim): Promise<ImageResult | undefined> {
      const fresh = freshDocument(claim, now());
      for (;;) {
        try {
          await results.insertOne({ _id: claim.id, ...fresh });
          return undefined;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
        const found = await results.findOne({ _id: claim.id }, { readConcern: 'majority' });
        if (found === null) continue;
        if (found.expires.getTime() > now()) return toResult(found);
        const taken = await results.replaceOne({ _id: claim.id, image: found.image }, fresh);
        if (taken.modifiedCount === 1) return undefined;
      }
    },

    /** Whoever had the claim loses it. */
    async replace(claim: ResultClaim): Promise<void> {
      await results.replaceOne({ _id: claim.id }, freshDocument(claim, now()), { upsert: true });
    },

    async find(id: string): Promise<ImageResult | undefined> {
      const found = await results.findOne({ _id: id }, { readConcern: 'majority' });
      return found === null || found.expires.getTime() <= now() ? undefined : toResult(found);
    },

    async renew(id: string, image: string, aliveUntil: number): Promise<void> {
      await results.updateOne({ _id: id, image }, { $set: { alive_until: aliveUntil } });
    },

    /** Keeps the answer; nobody is given it before `complete`. Repeatable. */
    async store({ id, image }: Pick<ResultClaim, 'id' | 'image'>, answer: AnswerToStore): Promise<void> {
      const record = await results.findOne({ _id: id, image }, { projection: { expires: 1 } });
      if (record === null) return;
      let documents = 0;
      for (const data of cut(answer.body ?? [])) {
        const _id = bodyId(image, documents);
        const document = { data: new Binary(data), expires: record.expires };
        await bodies.replaceOne({ _id }, document, { upsert: true });
        documents += 1;
      }
      const { status, mayRetry } = answer;
      await results.updateOne(
        { _id: id, image },
        {
          $set: {
            state: 'stored',
            status,
            may_retry: mayRetry,
            ...(answer.body === undefined ? {} : { documents }),
          },
        },
      );
    },

    async complete(id: string, image: string): Promise<void> {
      await results.updateOne({ _id: id, image }, { $set: { state: 'done' } });
    },

    /** The same key may be used again: nothing was sent. */
    async forget(id: string, image: string): Promise<void> {
      await results.deleteOne({ _id: id, image });
    },

    /** Throws when a part is missing. */
    async readBody(image: string, documents: number): Promise<Uint8Array[]> {
      const parts: Uint8Array[] = [];
      for (let n = 0; n < documents; n += 1) {
        const found = await bodies.findOne({ _id: bodyId(image, n) });
        if (found === null) throw new Error(`part ${n} of the result of ${image} is missing`);
        parts.push(found.data.value());
      }
      return parts;
    },
  };
}

function freshDocument(claim: ResultClaim, at: number): Omit<ResultDocument, '_id'> {
  return {
    image: claim.image,
    fingerprint: claim.fingerprint,
    state: 'running',
    alive_until: claim.aliveUntil,
    created_at: at,
    expires: new Date(at + claim.keptMs),
  };
}

function toResult(document: ResultDocument): ImageResult {
  const { _id, image, fingerprint, state, alive_until, status, may_retry, documents } = document;
  return {
    id: _id,
    image,
    fingerprint,
    state,
    aliveUntil: alive_until,
    ...(status === undefined
      ? {}
      : {
          answer: { status, mayRetry: may_retry ?? true, ...defined({ documents }) },
        }),
  };
}

function bodyId(image: string, n: number): string {
  return `${image}/${n}`;
}

/** The same bytes in pieces of one document each; one piece is in memory twice at a time. */
function* cut(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let piece: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    let rest = part;
    while (rest.length > 0) {
      const slice = rest.subarray(0, documentBytes - bytes);
      rest = rest.subarray(slice.length);
      piece.push(slice);
      bytes += slice.length;
      if (bytes < documentBytes) continue;
      yield Buffer.concat(piece);
      piece = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(piece);
}
