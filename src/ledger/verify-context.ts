import type { Db, Document } from 'mongodb';
import { hasIndex } from '../store/mongo.ts';
import { createHeadAnchors } from './anchored-heads.ts';
import { keyIndex, ledgerCollection } from './collection.ts';
import { createRemovalMarks } from './removal-marks.ts';
import { createEntryHash, entryId, type EntryDocument } from './entry.ts';
import type { OpenHeadsPlace } from './outside-heads.ts';
import type { Invariant, Report, Violation } from './verify-account.ts';
import { each, type Pace } from './verify-reading.ts';
import { readRecords } from './verify-records.ts';

export interface VerifyOptions {
  readonly db: Db;
  readonly key: Uint8Array;
  /** Tasks that nothing keeps alive are missing from the result. Accepts at most 500 tasks. */
  readonly holders: (tasks: readonly string[]) => Promise<ReadonlyMap<string, Holder>>;
  readonly now?: () => number;
  /** When the last verification without a violation started. It anchored the head of every account. */
  readonly lastSoundAt?: number;
  readonly onProgress?: (progress: VerifyProgress) => void;
  readonly openPlace?: OpenHeadsPlace;
  readonly anchorsHeads?: boolean;
  readonly signal?: AbortSignal;
  readonly pace?: Pace;
}

export interface VerifyProgress {
  readonly accounts: number;
  readonly entries: number;
}

/**
 * `creation` means that the task is being created, or that its creating process died too recently for the creation to
 * be abandoned.
 */
export type Holder = 'workflow' | 'lease' | 'creation';

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
    /**
     * Read all names first. Otherwise, the cursor would sit idle while the accounts are verified, and MongoDB would
     * close it.
     */
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
    async accountsWithEntries(accounts: readonly string[]): Promise<Set<string>> {
      const first = accounts.map((account) => entryId(account, 1n));
      const found = await ledger.find({ _id: { $in: first } }, { projection: { account: 1 } }).toArray();
      return new Set(found.map(({ account }) => account));
    },
    async findEntries(wanted: readonly string[]): Promise<Map<string, EntryFacts>> {
      if (wanted.length === 0) return new Map();
      const found = ledger.find({ key: { $in: [...wanted] } }).project<EntryFacts>(entryFields);
      return new Map((await found.toArray()).map((entry) => [entry.key, legible(entry)]));
    },
  };
}

/** Drops fields of invalid types, which the account check reports. */
function legible({ excess, ...entry }: EntryFacts): EntryFacts {
  const integer = (value: unknown): bigint => (typeof value === 'bigint' ? value : 0n);
  const more = typeof excess === 'bigint' ? { excess } : {};
  return { ...entry, seq: integer(entry.seq), amount: integer(entry.amount), ...more };
}

interface Subject {
  readonly account: string;
  readonly task: string;
}

/** @param what - Completes a sentence that starts with the task's id. */
export function violation(invariant: Invariant, { account, task }: Subject, what: string): Violation {
  return { invariant, account, task, message: `${task} ${what}` };
}
