import { createHash } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import type { ConfigChange } from '../base/config-change.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { defined } from '../base/defined.ts';
import { actOutcomes, type ActOrigin, type ActOutcome } from '../base/operator.ts';
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

/** Covers mere attempts as well as successful actions. Times are in Unix milliseconds. */
export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly via: ActOrigin;
  readonly address?: string;
  /** The API operation, or the name of the action on a task. */
  readonly action: string;
  readonly target: string;
  readonly task?: string;
  readonly reason: string;
  readonly what: string;
  readonly outcome: ActOutcome;
  readonly result?: string;
  readonly changes?: readonly ConfigChange[];
  readonly endedAt?: number;
  readonly items?: readonly AuditItem[];
}

interface AuditItemBegun {
  readonly key: string;
  readonly task: string;
  readonly at: number;
}

export interface AuditItem extends AuditItemBegun, Pick<AuditEntry, 'outcome' | 'result' | 'endedAt'> {}

type BulkFacts = Pick<AuditEntry, 'id' | 'at' | 'by' | 'via' | 'address' | 'action' | 'reason' | 'what'> & {
  readonly bulk: string;
};

interface Sorted {
  readonly _id: string;
  readonly sort: string;
}
type SingleDocument = Omit<AuditEntry, 'id' | 'items'> & Sorted & { readonly items?: undefined };
/** `bulk` is a hash of the operator and the shared facts. `task` lists the tasks of all items, for the index only. */
type BulkDocument = Omit<BulkFacts, 'id'> &
  Sorted & { readonly task: readonly string[]; readonly items: readonly AuditItem[] };
type AuditDocument = SingleDocument | BulkDocument;

/** This field exists only in a full entry, which has a thousand items. */
const lastItem = 'items.999';

export interface AuditFilter {
  readonly by?: string;
  readonly task?: string;
  readonly target?: string;
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

type EndedItem = Required<Pick<AuditEntry, 'outcome' | 'endedAt'>> & Pick<AuditEntry, 'result'>;
type Ended = EndedItem & Pick<AuditEntry, 'changes'>;

export type AuditStore = ReturnType<typeof createAuditStore>;

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
        { name: 'target', key: { target: 1, sort: -1 } },
        { name: 'bulk', key: { bulk: 1 }, unique: true, sparse: true },
      ]),

    /** Writes one entry per `key`, even if a repeated call has a different time and therefore a different id. */
    async begin({ id: sort, ...entry }: Omit<AuditEntry, 'items'>, key: string = sort): Promise<void> {
      await unlessThere(() => singles.insertOne({ _id: key, sort, ...entry }));
    },

    async end(key: string, end: Ended) {
      await singles.updateOne({ _id: key }, updateWith({ $set: end }));
    },

    /**
     * Removes the request, reason, result and changes from entries about a deleted account. Entries about the deletion
     * itself are not changed.
     */
    async redact(about: { readonly target: InSet } | { readonly task: InSet }): Promise<void> {
      const others = { ...about, action: { $nin: [...deletionActs] } };
      await audit.updateMany(others, {
        $set: { what: '{}', reason: '' },
        $unset: { result: '', changes: '' },
      });
      if ('target' in about) return;
      await bulks.updateMany({ ...about, items: { $exists: true } }, { $unset: { 'items.$[].result': '' } });
    },

    async list(
      { by, task, target, since }: AuditFilter,
      { limit, after }: { readonly limit: number; readonly after?: string },
    ): Promise<AuditPage> {
      const range = defined({
        $lt: after,
        $gte: since === undefined ? undefined : sortKey(since, ''),
      });
      const query: Filter<AuditDocument> = {
        ...defined({ by, task, target }),
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

function bulkActs(bulks: Collection<BulkDocument>) {
  return {
    /** Actions with identical `facts` share one entry. Returns the entry's id, or undefined if the entry is full. */
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

    async endItem(id: string, key: string, end: EndedItem): Promise<void> {
      const set = Object.fromEntries(Object.entries(end).map(([name, value]) => [`items.$.${name}`, value]));
      await bulks.updateOne({ _id: id, 'items.key': key }, updateWith({ $set: set }));
    },
  };
}

/** The outcome of a bulk action is the first outcome in this list that any of its items has. */
const bulkOutcomes: readonly ActOutcome[] = ['begun', 'failed', 'done', 'refused'];

function toEntry(document: AuditDocument): AuditEntry {
  if (document.items === undefined) {
    const { _id: _key, sort: id, items: _items, ...entry } = document;
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
