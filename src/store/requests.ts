import { defined } from '../base/defined.ts';
import type { Collection, Db } from 'mongodb';
import { z } from 'zod';
import { listedPromptCharactersMax, type GenerationRequest } from '../models/request.ts';
import type { DroppedChannel } from '../task/candidates.ts';
import type { Task } from '../task/record.ts';
import { defaultRetention } from '../base/retention.ts';
import { durable, ensureIndexes, expiring, openCollection, readByWrite, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

export interface RequestRecord {
  readonly task: string;
  readonly account: string;
  readonly request: GenerationRequest;
  readonly callbackToken: string;
  /** Stored here because it may contain secrets. */
  readonly callbackUrl?: string;
  readonly warnings: readonly string[];
  /** Channels that are not in the task's plan. Shows operators why they are missing. */
  readonly dropped: readonly DroppedChannel[];
  /** The attempt that wrote the request, as recorded in the task's `creating` state. */
  readonly by: string;
}

/** `deadlineAt` is in Unix milliseconds. The request is kept for some time after that. */
export interface NewRequest extends RequestRecord, Pick<Task, 'deadlineAt'> {}

type Written = Pick<RequestRecord, 'request' | 'callbackToken' | 'callbackUrl'>;

interface RequestDocument extends Omit<RequestRecord, 'task' | keyof Written> {
  readonly _id: string;
  readonly sealed: SealedDocument;
  /** The beginning of the prompt, kept apart because a request can be many megabytes long. */
  readonly prompt: SealedDocument;
  /** Set by the first write, so that the caller's data is deleted even if nothing else happens to the task. */
  readonly expires: Date;
  /** Incremented by reads that are sent as writes. See `readByWrite`. */
  readonly reads?: number;
}

const writtenSchema = z.object({
  request: z.custom<GenerationRequest>((value) => typeof value === 'object' && value !== null),
  callbackToken: z.string(),
  callbackUrl: z.string().optional(),
});

const placeOf = (id: string) => ({ purpose: 'request', id }) as const;
const promptPlaceOf = (id: string) => ({ purpose: 'prompt', id }) as const;

export type RequestStore = ReturnType<typeof createRequestStore>;

/**
 * Keeps requests until `keptMs` after their tasks' deadlines. Redelivered callbacks need them, and operators may ask
 * what was requested.
 */
export function createRequestStore(
  db: Db,
  now: () => number,
  { seal, open, keptMs = () => defaultRetention.requestsMs }: Sealing & { readonly keptMs?: () => number },
) {
  const expiresAt = (deadlineAt: number): number => deadlineAt + keptMs();
  const requests = openCollection<RequestDocument>(db, 'requests', durable);
  const kept = (document: RequestDocument | null): RequestRecord | undefined =>
    document === null || document.expires.getTime() <= now() ? undefined : toRecord(document, open);
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(requests, [expiring]);
    },

    expiresAt,
    isForgotten: ({ deadlineAt }: Pick<Task, 'deadlineAt'>): boolean => expiresAt(deadlineAt) <= now(),
    ...requestChanges(requests, expiresAt),

    /**
     * Returns the number of sealed bytes, or undefined if an earlier attempt at this creation already wrote the
     * request.
     */
    async insert(asked: NewRequest): Promise<number | undefined> {
      const { task: _id, request, callbackToken, callbackUrl, deadlineAt, ...legible } = asked;
      const sealed = seal(placeOf(_id), JSON.stringify({ request, callbackToken, callbackUrl }));
      const expires = new Date(expiresAt(deadlineAt));
      const prompt = seal(promptPlaceOf(_id), request.prompt.slice(0, listedPromptCharactersMax));
      const document = {
        _id,
        ...legible,
        sealed: toSealedDocument(sealed),
        prompt: toSealedDocument(prompt),
        expires,
      };
      return (await unlessThere(() => requests.insertOne(document))) ? sealed.data.length : undefined;
    },

    /**
     * Returns undefined once the request has expired, even if MongoDB has not deleted it yet. If it returns undefined,
     * the request certainly does not exist.
     */
    async find(task: string): Promise<RequestRecord | undefined> {
      const seen = kept(await requests.findOne({ _id: task }));
      return seen ?? kept(await requests.findOneAndUpdate({ _id: task }, ...readByWrite));
    },

    /** A plain read that may be stale. Use it if no decision depends on the result and callers may ask often. */
    async glance(task: string): Promise<RequestRecord | undefined> {
      return kept(await requests.findOne({ _id: task }));
    },

    async prompts(tasks: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const found = await requests
        .find({ _id: { $in: [...tasks] } })
        .project<Pick<RequestDocument, '_id' | 'prompt' | 'expires'>>({ prompt: 1, expires: 1 })
        .toArray();
      return new Map(
        found
          .filter(({ expires }) => expires.getTime() > now())
          .map(({ _id, prompt }) => [_id, readPrompt(_id, prompt, open)]),
      );
    },

    async *each(tasks: readonly string[]): AsyncIterable<RequestRecord> {
      for await (const document of requests.find({ _id: { $in: [...tasks] } })) {
        if (document.expires.getTime() > now()) yield toRecord(document, open);
      }
    },
  };
}

function requestChanges(requests: Collection<RequestDocument>, expiresAt: (deadlineAt: number) => number) {
  return {
    /**
     * Hands the document over to another attempt at the creation, so that the first attempt can no longer remove it.
     * Returns false if the document no longer exists.
     */
    async takeOver(task: string, by: string): Promise<boolean> {
      return (await requests.updateOne({ _id: task }, { $set: { by } })).matchedCount === 1;
    },

    /** Idempotent. If the deadline is moved twice, the later time wins. */
    async keepUntil(task: string, deadlineAt: number): Promise<void> {
      await requests.updateOne({ _id: task }, { $max: { expires: new Date(expiresAt(deadlineAt)) } });
    },

    async removeMany(tasks: readonly string[]): Promise<void> {
      await requests.deleteMany({ _id: { $in: [...tasks] } });
    },

    /** Removes the request only if this attempt at the creation wrote it. */
    async remove(task: string, by: string): Promise<void> {
      await requests.deleteOne({ _id: task, by });
    },
  };
}

function readPrompt(id: string, prompt: SealedDocument, open: Sealing['open']): string {
  try {
    return open(promptPlaceOf(id), toSealed(prompt));
  } catch {
    return unreadable;
  }
}

const unreadable = 'cannot be read';

function toRecord(document: RequestDocument, open: Sealing['open']): RequestRecord {
  const { _id: task, sealed, prompt: _prompt, expires: _expires, reads: _reads, ...legible } = document;
  const written = writtenSchema.parse(JSON.parse(open(placeOf(task), toSealed(sealed))));
  return { task, ...legible, ...defined(written) };
}
