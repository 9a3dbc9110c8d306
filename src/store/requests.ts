import { defined } from '../base/defined.ts';
import type { Collection, Db } from 'mongodb';
import { z } from 'zod';
import type { GenerationRequest } from '../models/request.ts';
import type { DroppedChannel } from '../task/candidates.ts';
import type { Task } from '../task/record.ts';
import { defaultRetention } from '../base/retention.ts';
import { durable, ensureIndexes, expiring, openCollection, readByWrite, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument, Sealing } from './sealed-document.ts';

/** What was asked, written before the workflow starts: prompts and media never pass through Temporal. */
export interface RequestRecord {
  readonly task: string;
  readonly account: string;
  readonly request: GenerationRequest;
  /** Secret part of the address at which an upstream may call us back for this task. */
  readonly callbackToken: string;
  /** The caller's callback address; kept here because it may hold secrets. */
  readonly callbackUrl?: string;
  /** What the create answered beside the task. */
  readonly warnings: readonly string[];
  /** Why other channels are not in the task's plan, for people. */
  readonly dropped: readonly DroppedChannel[];
  /** The try of the creation that wrote it, as the state `creating` names it. */
  readonly by: string;
}

/** `deadlineAt`: of the task, in Unix milliseconds. The request is kept for a while longer. */
export interface NewRequest extends RequestRecord, Pick<Task, 'deadlineAt'> {}

/** What the caller wrote. */
type Written = Pick<RequestRecord, 'request' | 'callbackToken' | 'callbackUrl'>;

interface RequestDocument extends Omit<RequestRecord, 'task' | keyof Written> {
  readonly _id: string;
  /** JSON of what the caller wrote, encrypted: request, callback address, and the token of the upstream's callback. */
  readonly sealed: SealedDocument;
  /** For MongoDB's TTL, from the first write on: whatever becomes of the task, what its caller wrote is forgotten. */
  readonly expires: Date;
  /** Counts the reads that had to be writes. */
  readonly reads?: number;
}

const writtenSchema = z.object({
  request: z.custom<GenerationRequest>((value) => typeof value === 'object' && value !== null),
  callbackToken: z.string(),
  callbackUrl: z.string().optional(),
});

const placeOf = (id: string) => ({ purpose: 'request', id }) as const;

export type RequestStore = ReturnType<typeof createRequestStore>;

/** `keptMs`: after the task's deadline: for a callback that is redelivered, and for whoever asks what was asked. */
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

    /** When the request of a task is deleted. Unix milliseconds. */
    expiresAt,
    ...requestChanges(requests, expiresAt),

    /** The bytes of what is sealed. Undefined: an earlier try of this creation has written it. */
    async insert(asked: NewRequest): Promise<number | undefined> {
      const { task: _id, request, callbackToken, callbackUrl, deadlineAt, ...legible } = asked;
      const sealed = seal(placeOf(_id), JSON.stringify({ request, callbackToken, callbackUrl }));
      const expires = new Date(expiresAt(deadlineAt));
      const document = { _id, ...legible, sealed: toSealedDocument(sealed), expires };
      return (await unlessThere(() => requests.insertOne(document))) ? sealed.data.length : undefined;
    },

    /** Undefined from its expiry on, whether or not MongoDB has deleted it by then: that it is gone is certain. */
    async find(task: string): Promise<RequestRecord | undefined> {
      const seen = kept(await requests.findOne({ _id: task }));
      return seen ?? kept(await requests.findOneAndUpdate({ _id: task }, ...readByWrite));
    },

    /** As a read sees it: for who decides nothing by it, and may be asked by anybody. */
    async glance(task: string): Promise<RequestRecord | undefined> {
      return kept(await requests.findOne({ _id: task }));
    },

    /** Of these tasks, in no order, a few in memory at a time. */
    async *each(tasks: readonly string[]): AsyncIterable<RequestRecord> {
      for await (const document of requests.find({ _id: { $in: [...tasks] } })) {
        if (document.expires.getTime() > now()) yield toRecord(document, open);
      }
    },
  };
}

function requestChanges(requests: Collection<RequestDocument>, expiresAt: (deadlineAt: number) => number) {
  return {
    /** Makes the document that of another try, which its first writer no longer removes. False: it is gone. */
    async takeOver(task: string, by: string): Promise<boolean> {
      return (await requests.updateOne({ _id: task }, { $set: { by } })).matchedCount === 1;
    },

    /** The task's deadline was moved. Repeatable: of two moves the later deadline counts. */
    async keepUntil(task: string, deadlineAt: number): Promise<void> {
      await requests.updateOne({ _id: task }, { $max: { expires: new Date(expiresAt(deadlineAt)) } });
    },

    async removeMany(tasks: readonly string[]): Promise<void> {
      await requests.deleteMany({ _id: { $in: [...tasks] } });
    },

    /** A creation that was abandoned leaves nothing behind of this try. */
    async remove(task: string, by: string): Promise<void> {
      await requests.deleteOne({ _id: task, by });
    },
  };
}

/** What was written, opened. */
function toRecord(document: RequestDocument, open: Sealing['open']): RequestRecord {
  const { _id: task, sealed, expires: _expires, reads: _reads, ...legible } = document;
  const written = writtenSchema.parse(JSON.parse(open(placeOf(task), toSealed(sealed))));
  return { task, ...legible, ...defined(written) };
}
