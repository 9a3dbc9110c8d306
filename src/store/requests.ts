import { defined } from '../domain/defined.ts';
import type { Collection, Db } from 'mongodb';
import { z } from 'zod';
import type { GenerationRequest } from '../domain/request.ts';
import { isDuplicateKey } from './mongo.ts';

/** What was asked, written before the workflow starts: prompts and media never pass through Temporal. */
export interface RequestRecord {
  readonly task: string;
  readonly account: string;
  readonly request: GenerationRequest;
  /** Secret part of the address at which an upstream may call us back for this task. */
  readonly callbackToken: string;
  /** The caller's callback address; kept here because it may hold secrets. */
  readonly callbackUrl?: string;
  readonly createdAt: number;
  /** What the create answered beside the task. */
  readonly warnings: readonly string[];
  /** JSON of the plan that it was admitted with, for the record. */
  readonly plan: string;
  /** The try of the creation that wrote it: `Task.unstarted`. */
  readonly by: string;
}

interface RequestDocument {
  readonly _id: string;
  readonly account: string;
  /** Callers' JSON stays one string: its field names do not belong into documents. */
  readonly body: string;
  readonly callback_token: string;
  readonly callback_url?: string;
  readonly created_at: number;
  readonly warnings: readonly string[];
  readonly plan: string;
  readonly by: string;
}

const storedRequest = z.custom<GenerationRequest>((value) => typeof value === 'object' && value !== null);

export type RequestStore = ReturnType<typeof createRequestStore>;

export function createRequestStore(db: Db) {
  const requests: Collection<RequestDocument> = db.collection<RequestDocument>('requests');
  return {
    /** False: an earlier try of this creation has written it. */
    async insert(record: RequestRecord): Promise<boolean> {
      try {
        await requests.insertOne({
          _id: record.task,
          account: record.account,
          body: JSON.stringify(record.request),
          callback_token: record.callbackToken,
          created_at: record.createdAt,
          warnings: record.warnings,
          plan: record.plan,
          by: record.by,
          ...defined({ callback_url: record.callbackUrl }),
        });
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },

    /** Makes the document that of another try, which its first writer no longer removes. False: it is gone. */
    async takeOver(task: string, by: string): Promise<boolean> {
      return (await requests.updateOne({ _id: task }, { $set: { by } })).matchedCount === 1;
    },

    async find(task: string): Promise<RequestRecord | undefined> {
      const document = await requests.findOne({ _id: task });
      if (document === null) return undefined;
      return {
        task,
        account: document.account,
        request: storedRequest.parse(JSON.parse(document.body)),
        callbackToken: document.callback_token,
        createdAt: document.created_at,
        warnings: document.warnings,
        plan: document.plan,
        by: document.by,
        ...defined({ callbackUrl: document.callback_url }),
      };
    },

    /** A creation that was abandoned leaves nothing behind of this try. */
    async remove(task: string, by: string): Promise<void> {
      await requests.deleteOne({ _id: task, by });
    },
  };
}
