import { MongoNetworkError, type Collection, type Db } from 'mongodb';
import { afterAll, beforeAll } from 'vitest';
import { ensureLedgerIndexes, ledgerCollection } from '../../src/ledger/collection.ts';
import { createEntryHash, type EntryDocument } from '../../src/ledger/entry.ts';
import { settle } from '../../src/money/settle.ts';
import type { PriceBasis } from '../../src/money/price.ts';
import type { LedgerMeter } from '../../src/observability/meter.ts';
import { createLedger, type Ledger, type LedgerDeps } from '../../src/ledger/ledger.ts';
import { createTurnLines } from '../../src/ledger/turn-lines.ts';
import { createAccountCheck, type Violation } from '../../src/ledger/verify-account.ts';
import { connectMongo, type Mongo } from '../../src/store/mongo.ts';
import { databaseUri } from '../support/run-servers.ts';
import { testLedgerKey } from '../support/sealing.ts';

export const hashTestEntry = createEntryHash(testLedgerKey);

const prices: PriceBasis = {
  price: { minimum: '0', lines: [{ measure: 'second', price: '0.001' }] },
  facts: {},
  version: 'test',
};
export const heldText = JSON.stringify(prices);

export function settledText(amount: bigint): string {
  const { amount: _charge, ...reckoning } = settle({
    basis: prices,
    channel: 'one',
    facts: { durationSeconds: Number(amount) / 1000 },
    held: 0n,
  });
  return JSON.stringify(reckoning);
}

export interface LedgerWorld {
  readonly db: Db;
  readonly entries: Collection<EntryDocument>;
  openLedger(options?: LedgerOptions): Promise<Ledger>;
  newAccount(): string;
  chainFaults(account: string): Promise<Violation[]>;
}

interface LedgerOptions {
  readonly uri?: string;
  readonly wrap?: (collection: Collection<EntryDocument>) => Collection<EntryDocument>;
  readonly headsMax?: number;
  readonly meter?: LedgerMeter;
  readonly onBalance?: NonNullable<LedgerDeps['onBalance']>;
  readonly now?: () => number;
}

export function useLedgerWorld(name: string): LedgerWorld {
  const connections: Mongo[] = [];
  let db: Db | undefined;
  let accounts = 0;
  const database = () => {
    if (db === undefined) throw new Error('the database is not open yet');
    return db;
  };
  const open = async (uri = databaseUri(name)) => {
    const mongo = await connectMongo(uri);
    connections.push(mongo);
    return mongo;
  };

  beforeAll(async () => {
    ({ db } = await open());
    await db.dropDatabase();
    await ensureLedgerIndexes(db);
  });

  afterAll(async () => {
    await db?.dropDatabase();
    await Promise.all(connections.map((mongo) => mongo.close()));
  });

  return {
    get db() {
      return database();
    },
    get entries() {
      return ledgerCollection(database());
    },
    async openLedger({ uri, wrap, headsMax = 1000, ...more } = {}) {
      const opened = uri === undefined ? database() : (await open(uri)).db;
      const collection = ledgerCollection(opened);
      return createLedger({
        collection: wrap?.(collection) ?? collection,
        lines: createTurnLines(opened, Date.now),
        key: testLedgerKey,
        now: Date.now,
        headsMax,
        ...more,
      });
    },
    newAccount: () => `acct_${(accounts += 1)}`,
    async chainFaults(account) {
      const faults: Violation[] = [];
      const check = createAccountCheck(account, {
        hash: hashTestEntry,
        report: (violation) => faults.push(violation),
      });
      for await (const entry of ledgerCollection(database()).find({ account }).sort({ seq: 1 }))
        check.next(entry);
      for (const [task, owed] of check.owedExtras) {
        faults.push({ invariant: 'settled_in_full', account, task, message: `${owed} is owed` });
      }
      return faults;
    },
  };
}

/**
 * - `refused`: the write never arrives.
 * - `lost`: the write takes effect, but its response is lost.
 * - `cut`: the server dies after the batch's first entry.
 * - `broken`: the write takes effect, and the driver throws the socket's own error.
 */
export type WriteFault = 'refused' | 'lost' | 'cut' | 'broken' | undefined;

export function faulty(
  collection: Collection<EntryDocument>,
  nextFault: () => WriteFault,
  nextError: () => unknown = () => undefined,
): Collection<EntryDocument> {
  const insertMany: Collection<EntryDocument>['insertMany'] = async (entries, options) => {
    const error = nextError();
    if (error !== undefined) throw error;
    const fault = nextFault();
    if (fault === 'refused') throw new MongoNetworkError('injected: connection refused');
    const written = await collection.insertMany(fault === 'cut' ? entries.slice(0, 1) : entries, options);
    if (fault === 'broken') throw Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET' });
    if (fault !== undefined) throw new MongoNetworkError(`injected: ${fault}`);
    return written;
  };
  return new Proxy(collection, {
    get(target, property) {
      if (property === 'insertMany') return insertMany;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function faultsInOrder(faults: readonly WriteFault[]): () => WriteFault {
  const left = [...faults];
  return () => left.shift();
}
