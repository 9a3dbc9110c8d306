import type { Collection, Db } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anchorCollection, ledgerCollection } from '../../src/ledger/collection.ts';
import { createRemovalMarks } from '../../src/ledger/removal-marks.ts';
import { createTurnLines } from '../../src/ledger/turn-lines.ts';
import { createRootKeyStore } from '../../src/store/root-key.ts';
import { createSealedPlaces } from '../../src/store/sealed-places.ts';
import { createStores } from '../../src/store/stores.ts';
import { openDatabase } from '../capacity/support.ts';
import { testLedgerKey, testSealing } from '../support/sealing.ts';
import { linesWith, readSources } from '../support/source-rules.ts';

const sources = readSources('.', ['src']);
let database: Awaited<ReturnType<typeof openDatabase>>;
let opened: ReadonlyMap<string, Collection<Thing>>;

interface Thing {
  readonly _id: string;
  readonly n: number;
}

beforeAll(async () => {
  database = await openDatabase();
  opened = openEverything(database.db);
});
afterAll(() => database.drop());

function openEverything(db: Db): ReadonlyMap<string, Collection<Thing>> {
  const found = new Map<string, Collection<Thing>>();
  const noting = new Proxy(db, {
    get(target, name) {
      if (name !== 'collection') return Reflect.get(target, name) as unknown;
      return (collection: string, options: object) => {
        const instance = target.collection<Thing>(collection, options);
        found.set(collection, instance);
        return instance;
      };
    },
  });
  createStores(noting, Date.now, testSealing);
  createSealedPlaces(noting);
  createRootKeyStore(noting);
  createTurnLines(noting, Date.now);
  createRemovalMarks(noting, testLedgerKey);
  ledgerCollection(noting);
  anchorCollection(noting);
  return found;
}

it('every collection is opened by openCollection, and its concerns are named in one place', () => {
  expect(linesWith(sources, /\.collection(<[^(]*>)?\(/, ['src/store/mongo.ts'])).toEqual([]);
  // ledger/collection.ts is exempt, because it reads a cap's sums as of an entry that a majority has already
  // acknowledged.
  expect(
    linesWith(sources, /writeConcern|readConcern: \{/, ['src/store/mongo.ts', 'src/ledger/collection.ts']),
  ).toEqual([]);
});

it('every collection of the sources is tested', () => {
  const named = Object.values(sources).flatMap((text) =>
    [...text.matchAll(/openCollection<\w+>\(\s*db,\s*'(\w+)'/g)].map(([, name]) => name),
  );
  expect(new Set(named)).toEqual(new Set(opened.keys()));
});

it('a write to a collection is visible in the next read, however often it is tried', async () => {
  for (const [name, collection] of opened) {
    for (const n of [1, 2, 3]) {
      const _id = `own-write-${n}`;
      await collection.insertOne({ _id, n: 0 });
      const inserted = await collection.findOne({ _id });
      await collection.updateOne({ _id }, { $set: { n } });
      const updated = await collection.find({ n }).toArray();
      await collection.deleteOne({ _id });
      const left = await collection.countDocuments({ n });
      expect([name, inserted?.n, updated.length, left]).toEqual([name, 0, 1, 0]);
    }
  }
});
