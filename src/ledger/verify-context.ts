import type { Db, Document } from 'mongodb';
import { hasIndex } from '../store/mongo.ts';
import { createHeadAnchors } from './anchored-heads.ts';
import { keyIndex, ledgerCollection } from './collection.ts';
import { createRemovalMarks } from './removal-marks.ts';
import { createEntryHash, entryId } from './entry.ts';
import type { EntryDocument } from './entry.ts';
import type { OpenHeadsPlace } from './outside-heads.ts';
import type { Invariant, Report, Violation } from './verify-account.ts';
import { each } from './verify-reading.ts';
import type { Pace } from './verify-reading.ts';
import { readRecords } from './verify-records.ts';

export interface VerifyOptions {
  readonly db: Db;
  /** Of the hashes. */
  readonly key: Uint8Array;
  /** What accounts for each of these tasks; a task that nothing accounts for is absent. At most 500 at a time. */
  readonly holders: (tasks: readonly string[]) => Promise<ReadonlyMap<string, Holder>>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** When the last verification began that found nothing. It anchored the head of every account that had entries. */
  readonly lastSoundAt?: number;
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Opens the place to which heads are exported, so that they can be compared with the ledger. */
  readonly openPlace?: OpenHeadsPlace;
  /** The heads of chains that are sound are anchored. */
  readonly anchorsHeads?: boolean;
  /** Aborted: the verification stops with its reason. */
  readonly signal?: AbortSignal;
  /** Of entries and tasks. Absent: as fast as they come. */
  readonly pace?: Pace;
}

/** What has been read so far. */
export interface VerifyProgress {
  readonly accounts: number;
  readonly entries: number;
}

/** `creation`: a create that is in progress, or whose process died so recently that it has not been abandoned yet. */
export type Holder = 'workflow' | 'lease' | 'creation';

/** What the records are compared with; the texts of an entry are not. */
export type EntryFacts = Pick<
  EntryDocument,
  'key' | 'kind' | 'account' | 'seq' | 'amount' | 'excess' | 'upstream'
>;

export type VerifyContext = ReturnType<typeof createVerifyContext>;

const entryFields: Document = {
  _id: 0, key: 1, kind: 1, account: 1, seq: 1, amount: 1, excess: 1, upstream: 1,
}; // prettier-ignore

export function createVerifyContext(
  { db, key, holders, now = Date.now, lastSoundAt, signal, pace }: VerifyOptions,
  report: Report,
) {
  const ledger = ledgerCollection(db);
  const openHolds: Record<Holder, number> = { workflow: 0, lease: 0, creation: 0 };
  return {
    report,
    holders,
    openHolds,
    now,
    lastSoundAt,
    hash: createEntryHash(key),
    anchors: createHeadAnchors(db, key),
    removals: createRemovalMarks(db, key),
    hasKeyIndex: () => hasIndex(ledger, keyIndex),
    /** All at once: MongoDB ends a cursor that rests for as long as it takes to verify a thousand of them. */
    async *accounts(): AsyncIterable<string> {
      const found = ledger.aggregate<{ _id: string }>([{ $group: { _id: '$account' } }], {
        allowDiskUse: true,
      });
      for (const { _id } of await found.toArray()) {
        signal?.throwIfAborted();
        yield _id;
      }
    },
    entriesOf: (account: string) => each(ledger.find({ account }).sort({ seq: 1 }), { signal, pace }),
    ...readRecords(db, { signal, pace }),
    /** Those of these accounts whose first entry is there. */
    async accountsWithEntries(accounts: readonly string[]): Promise<Set<string>> {
      const first = accounts.map((account) => entryId(account, 1n));
      const found = await ledger.find({ _id: { $in: first } }, { projection: { account: 1 } }).toArray();
      return new Set(found.map(({ account }) => account));
    },
    /** By their keys. */
    async findEntries(wanted: readonly string[]): Promise<Map<string, EntryFacts>> {
      if (wanted.length === 0) return new Map();
      const found = ledger.find({ key: { $in: [...wanted] } }).project<EntryFacts>(entryFields);
      return new Map((await found.toArray()).map((entry) => [entry.key, legible(entry)]));
    },
  };
}

/** What has a type that no entry has is reported with its account, and compared as nothing. */
function legible({ excess, ...entry }: EntryFacts): EntryFacts {
  const integer = (value: unknown): bigint => (typeof value === 'bigint' ? value : 0n);
  const more = typeof excess === 'bigint' ? { excess } : {};
  return { ...entry, seq: integer(entry.seq), amount: integer(entry.amount), ...more };
}

interface Subject {
  readonly account: string;
  readonly task: string;
}

/** `what` continues a sentence that begins with the task's id. */
export function violation(invariant: Invariant, { account, task }: Subject, what: string): Violation {
  return { invariant, account, task, message: `${task} ${what}` };
}
