import { readdirSync, readFileSync } from 'node:fs';
import type { Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureLedgerIndexes } from '../../src/ledger/collection.ts';
import { connectMongo, IndexConflictError, type Mongo } from '../../src/store/mongo.ts';
import { createStores, ensureStoreIndexes } from '../../src/store/stores.ts';
import { databaseUri } from '../support/run-servers.ts';
import { testSealing } from '../support/sealing.ts';

let mongo: Mongo;
const makers = new Map<string, () => Promise<void>>();

async function ensureAll(): Promise<void> {
  await ensureStoreIndexes(createStores(mongo.db, Date.now, testSealing));
  await ensureLedgerIndexes(mongo.db);
}

beforeAll(async () => {
  mongo = await connectMongo(databaseUri('store_indexes'));
  await mongo.db.dropDatabase();
  const stores = Object.entries(createStores(mongo.db, Date.now, testSealing));
  const parts = stores.map(
    ([name, store]) =>
      () =>
        ensureStoreIndexes({ [name]: store }),
  );
  for (const make of [...parts, () => ensureLedgerIndexes(mongo.db)]) {
    await make();
    for (const { collectionName } of await mongo.db.collections())
      if (!makers.has(collectionName)) makers.set(collectionName, make);
  }
});

afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo.close();
});

describe('a startup', () => {
  it('changes nothing when every index is there', async () => {
    await expect(ensureAll()).resolves.toBeUndefined();
  });

  it('is refused by any index with the same name and another definition', async () => {
    const accepted: string[] = [];
    let indexes = 0;
    for (const collection of await mongo.db.collections()) {
      // Starting only the collection's own store is faster. The first time, however, every store must start.
      const make = (indexes > 0 && makers.get(collection.collectionName)) || ensureAll;
      // Repeat this for each collection. When the stand-in drops an index, it does so in every collection that has an
      // index with that name.
      await make();
      for (const { name, key, ...shape } of await collection.indexes()) {
        if (name === undefined || name === '_id_') continue;
        indexes += 1;
        const error = await withIndex(collection, name, make);
        if (!(error instanceof IndexConflictError))
          accepted.push(`${collection.collectionName}.${name}: ${String(error)}`);
        await collection.createIndex(key, { name, ...options(shape) });
        // The rejected startup may have begun to create indexes of other collections. Let it finish before the test
        // drops those indexes.
        await make();
      }
    }
    await ensureAll();
    expect(indexes).toBeGreaterThan(20);
    expect(accepted).toEqual([]);
  });
});

describe('the declared indexes', () => {
  const shapesOf = async (option: 'unique' | 'expireAfterSeconds') => {
    const found: string[] = [];
    for (const collection of await mongo.db.collections()) {
      for (const index of await collection.indexes()) {
        if (index[option] === undefined || index[option] === false || index.name === '_id_') continue;
        found.push(`${collection.collectionName}: ${Object.keys(index.key).join()} ${String(index[option])}`);
      }
    }
    return found.toSorted();
  };

  it('are unique for values that two writers must never share', async () => {
    expect(await shapesOf('unique')).toEqual([
      'audit: bulk true',
      'keys: hmac true',
      'ledger: key true',
      'operator_sessions: hmac true',
      'operators: hmac true',
      'tasks: jobs true',
    ]);
  });

  it('let MongoDB remove documents at the time that they contain, and nothing else', async () => {
    expect(await shapesOf('expireAfterSeconds')).toEqual([
      'cap_events: expires 0',
      'exchanges: expires 0',
      'idempotency: expires 0',
      'image_result_bodies: expires 0',
      'ledger_lines: expires 0',
      'nodes: seen 600',
      'operator_sessions: expires 0',
      'partial_images: expires 0',
      'rate_limits: expires 0',
      'render_times: expires 0',
      'requests: expires 0',
      'rollups: expires 0',
      'shape_charges: expires 0',
      'slot_refusals: expires 0',
      'slot_rounds: expires 0',
      'slot_tickets: expires 0',
      'stored_bytes: expires 0',
      'upkeep_failures: expires 0',
      'wakes: expires 0',
    ]);
  });
});

async function withIndex(collection: Collection, name: string, act: () => Promise<void>): Promise<unknown> {
  await collection.dropIndex(name);
  await collection.createIndex({ nothing: 1 }, { name });
  const error = await act().catch((thrown: unknown) => thrown);
  await collection.dropIndex(name);
  return error;
}

function options(shape: Readonly<Record<string, unknown>>) {
  return {
    ...(shape['unique'] === true ? { unique: true } : {}),
    ...(shape['sparse'] === true ? { sparse: true } : {}),
    ...(shape['expireAfterSeconds'] === undefined
      ? {}
      : { expireAfterSeconds: Number(shape['expireAfterSeconds']) }),
  };
}

it('no store creates an index without the check', () => {
  const directory = new URL('../../src/', import.meta.url);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'store/mongo.ts')
    .filter((name) => /\.createIndex(es)?\(/.test(readFileSync(new URL(name, directory), 'utf8')));
  expect(files).toEqual([]);
});
