import { createHash } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import { canonicalJson } from '../base/canonical-json.ts';
import { defined } from '../base/defined.ts';
import { actOutcomes } from '../base/operator.ts';
import type { ActOrigin, ActOutcome } from '../base/operator.ts';
import {
  durable,
  ensureIndexes,
  isDuplicateKey,
  openCollection,
  repeatOnDuplicate,
  unlessThere,
  updateWith,
} from './mongo.ts';
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
  /** What was done to each task of a bulk act. */
  readonly items?: readonly AuditItem[];
}

/** `key` identifies the item. */
interface AuditItemBegun {
  readonly key: string;
  readonly task: string;
  readonly at: number;
}

export interface AuditItem extends AuditItemBegun, Pick<AuditEntry, 'outcome' | 'result' | 'endedAt'> {}

/** What the acts of a bulk share. */
type BulkFacts = Pick<AuditEntry, 'id' | 'at' | 'by' | 'via' | 'address' | 'action' | 'reason' | 'what'> & {
  readonly bulk: string;
};

interface Sorted {
  readonly _id: string;
  /** The id again, for the indexes. */
  readonly sort: string;
}
type SingleDocument = Omit<AuditEntry, 'id' | 'items'> & Sorted & { readonly items?: undefined };
/** `bulk` is a hash of the operator and of what the acts share. `task` lists the tasks of all items, for the index. */
type BulkDocument = Omit<BulkFacts, 'id'> &
  Sorted & { readonly task: readonly string[]; readonly items: readonly AuditItem[] };
type AuditDocument = SingleDocument | BulkDocument;

/** Exists once an entry has a thousand items. */
const lastItem = 'items.999';

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

type Ended = Required<Pick<AuditEntry, 'outcome' | 'endedAt'>> & Pick<AuditEntry, 'result'>;

export type AuditStore = ReturnType<typeof createAuditStore>;

/** What operators did, for ever: nothing but its outcome is changed as long as its account exists. */
export function createAuditStore(db: Db) {
  const audit = openCollection<AuditDocument>(db, 'audit', durable);
  const singles = openCollection<SingleDocument>(db, 'audit', durable);
  const bulks = openCollection<BulkDocument>(db, 'audit', durable);
  return {
    ...bulkActs(bulks),
    ensureIndexes: () =>
      ensureIndexes(audit, [
        { name: 'time', key: { sort: -1 } },
        { name: 'by', key: { by: 1, sort: -1 } },
        { name: 'task', key: { task: 1, sort: -1 } },
        { name: 'target', key: { target: 1 } },
        { name: 'bulk', key: { bulk: 1 }, unique: true, sparse: true },
      ]),

    /** Repeatable. */
    async begin({ id: _id, ...entry }: Omit<AuditEntry, 'items'>): Promise<void> {
      await unlessThere(() => singles.insertOne({ _id, sort: _id, ...entry }));
    },

    async end(id: string, end: Ended) {
      await singles.updateOne({ _id: id }, updateWith({ $set: end }));
    },

    /** Of an account that is deleted: what was asked for, and why, is no longer known; the deletion is. */
    async redact(about: { readonly target: InSet } | { readonly task: InSet }): Promise<void> {
      const others = { ...about, action: { $nin: [...deletionActs] } };
      await audit.updateMany(others, { $set: { what: '{}', reason: '' }, $unset: { result: '' } });
      if ('target' in about) return;
      await bulks.updateMany({ ...about, items: { $exists: true } }, { $unset: { 'items.$[].result': '' } });
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
      return { entries: found.slice(0, limit).map(toEntry), hasMore: found.length > limit };
    },
  };
}

/** Acts that belong together are items of one entry. */
function bulkActs(bulks: Collection<BulkDocument>) {
  return {
    /**
     * Adds an act to its bulk. Acts that share all of `facts` are items of one entry, which the first of them creates.
     * Returns the entry's id, or undefined if the entry is full.
     */
    async beginItem(facts: BulkFacts, begun: AuditItemBegun): Promise<string | undefined> {
      const { id: _id, at: first, bulk: name, ...shared } = facts;
      const bulk = createHash('sha256')
        .update(canonicalJson([name, shared.by, shared.action, shared.reason, shared.what]))
        .digest('base64url');
      const withRoom = { bulk, [lastItem]: { $exists: false } };
      const { task } = begun;
      const item: AuditItem = { ...begun, outcome: 'begun' };
      try {
        const entry = await repeatOnDuplicate(() =>
          bulks.findOneAndUpdate(
            withRoom,
            { $setOnInsert: { _id, sort: _id, at: first, ...shared }, $push: { items: item, task } },
            { upsert: true, returnDocument: 'after', projection: { _id: 1 } },
          ),
        );
        return entry?._id;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return undefined;
      }
    },

    async endItem(id: string, key: string, end: Ended): Promise<void> {
      const set = Object.fromEntries(Object.entries(end).map(([name, value]) => [`items.$.${name}`, value]));
      await bulks.updateOne({ _id: id, 'items.key': key }, updateWith({ $set: set }));
    },
  };
}

/** The outcome of the whole bulk is the first of these that any item has. */
const bulkOutcomes: readonly ActOutcome[] = ['begun', 'failed', 'done', 'refused'];

function toEntry(document: AuditDocument): AuditEntry {
  if (document.items === undefined) {
    const { _id: id, sort: _sort, items: _items, ...entry } = document;
    return { id, ...entry };
  }
  const { _id: id, sort: _sort, bulk: _bulk, task: _tasks, items, ...shared } = document;
  const counts = actOutcomes.flatMap((outcome) => {
    const count = items.filter((item) => item.outcome === outcome).length;
    return count === 0 ? [] : [{ outcome, count }];
  });
  const endedAt = Math.max(...items.map((item) => item.endedAt ?? 0));
  const isRunning = counts.some(({ outcome }) => outcome === 'begun');
  return {
    id,
    ...shared,
    target: items.length === 1 ? '1 task' : `${items.length} tasks`,
    outcome: bulkOutcomes.find((one) => counts.some(({ outcome }) => outcome === one)) ?? 'refused',
    result: counts.map(({ outcome, count }) => `${count} ${outcome}`).join(', '),
    ...(isRunning ? {} : { endedAt }),
    items,
  };
}
