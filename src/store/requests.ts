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
  /** Where the caller wants to be told; kept here because it may hold secrets. */
  readonly callbackUrl?: string;
  readonly createdAt: number;
}

interface RequestDocument {
  readonly _id: string;
  readonly account: string;
  /** Callers' JSON stays one string: its field names do not belong into documents. */
  readonly body: string;
  readonly callback_token: string;
  readonly callback_url?: string;
  readonly created_at: number;
}

const storedRequest = z.custom<GenerationRequest>((value) => typeof value === 'object' && value !== null);

export type RequestStore = ReturnType<typeof createRequestStore>;

export function createRequestStore(db: Db) {
  const requests: Collection<RequestDocument> = db.collection<RequestDocument>('requests');
  return {
    /** Repeatable: the first write of a task counts. */
    async insert(record: RequestRecord): Promise<void> {
      try {
        await requests.insertOne({
          _id: record.task,
          account: record.account,
          body: JSON.stringify(record.request),
          callback_token: record.callbackToken,
          created_at: record.createdAt,
          ...defined({ callback_url: record.callbackUrl }),
        });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
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
        ...defined({ callbackUrl: document.callback_url }),
      };
    },

    /** A refused creation leaves nothing behind. */
    async remove(task: string): Promise<void> {
      await requests.deleteOne({ _id: task });
    },
  };
}
