import type { Db, Filter } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { ActOrigin, ActOutcome } from '../base/operator.ts';
import { durable, ensureIndexes, openCollection, unlessThere, updateWith } from './mongo.ts';
import { sortKey } from './task-document.ts';

/** One thing that an operator did, or tried to do. Times in Unix milliseconds. */
export interface AuditEntry {
  /** Sorts by time. */
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly via: ActOrigin;
  readonly address?: string;
  /** The operation of the API; of an act on a task, its name. */
  readonly action: string;
  readonly target: string;
  readonly task?: string;
  readonly reason: string;
  /** JSON of what was asked for. */
  readonly what: string;
  readonly outcome: ActOutcome;
  /** Why it was refused, or failed. */
  readonly result?: string;
  readonly endedAt?: number;
}

/** `sort`: the id again, for the indexes. */
type AuditDocument = Omit<AuditEntry, 'id'> & { readonly _id: string; readonly sort: string };

export interface AuditFilter {
  readonly by?: string;
  readonly task?: string;
  readonly since?: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

interface InSet {
  readonly $in: readonly string[];
}

const deletionActs = ['deleteAccount', 'accountDeleted'] as const;

export type AuditStore = ReturnType<typeof createAuditStore>;

/** What operators did, for ever: nothing but its outcome is changed as long as its account exists. */
export function createAuditStore(db: Db) {
  const audit = openCollection<AuditDocument>(db, 'audit', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(audit, [
        { name: 'time', key: { sort: -1 } },
        { name: 'by', key: { by: 1, sort: -1 } },
        { name: 'task', key: { task: 1, sort: -1 } },
        { name: 'target', key: { target: 1 } },
      ]),

    /** Repeatable. */
    async begin({ id: _id, ...entry }: AuditEntry): Promise<void> {
      await unlessThere(() => audit.insertOne({ _id, sort: _id, ...entry }));
    },

    async end(id: string, end: Required<Pick<AuditEntry, 'outcome' | 'endedAt'>> & Partial<AuditEntry>) {
      await audit.updateOne({ _id: id }, updateWith({ $set: end }));
    },

    /** Of an account that is deleted: what was asked for, and why, is no longer known; the deletion is. */
    async redact(about: { readonly target: InSet } | { readonly task: InSet }): Promise<void> {
      const others = { ...about, action: { $nin: [...deletionActs] } };
      await audit.updateMany(others, { $set: { what: '{}', reason: '' }, $unset: { result: '' } });
    },

    /** Newest first; `after` is the id of the last entry of the page before. */
    async list(
      { by, task, since }: AuditFilter,
      { limit, after }: { readonly limit: number; readonly after?: string },
    ): Promise<AuditPage> {
      const range = defined({
        $lt: after,
        $gte: since === undefined ? undefined : sortKey(since, ''),
      });
      const query: Filter<AuditDocument> = {
        ...defined({ by, task }),
        ...(Object.keys(range).length === 0 ? {} : { sort: range }),
      };
      const found = await audit
        .find(query)
        .sort({ sort: -1 })
        .limit(limit + 1)
        .toArray();
      const entries = found.slice(0, limit).map(({ _id: id, sort: _sort, ...entry }) => ({ id, ...entry }));
      return { entries, hasMore: found.length > limit };
    },
  };
}
