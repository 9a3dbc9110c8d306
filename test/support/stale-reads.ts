import type { Collection, Db, Document } from 'mongodb';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import type { EntryDocument } from '../../src/ledger/entry.ts';

const reading: readonly PropertyKey[] = ['findOne', 'find', 'aggregate', 'countDocuments', 'distinct'];

export const copySuffix = '_as_of_now';

/**
 * From now on, reads of these collections return their current content, as if they came from a member that an election
 * has left behind.
 */
export async function staleReads(db: Db, names: readonly string[]): Promise<Db> {
  const former = (name: string): string => `${name}${copySuffix}`;
  for (const name of names) {
    await db.collection(former(name)).deleteMany({});
    const documents = await db.collection(name).find().toArray();
    if (documents.length > 0) await db.collection(former(name)).insertMany(documents);
  }
  const collection = (name: string, options?: object): Collection => {
    const current = db.collection(name, options);
    return names.includes(name) ? readingFrom(db.collection(former(name), options), current) : current;
  };
  const command = (asked: Document, options?: object): Promise<Document> => {
    const name: unknown = asked['find'];
    const isStale = typeof name === 'string' && names.includes(name);
    return db.command(isStale ? { ...asked, find: former(name) } : asked, options);
  };
  return new Proxy(db, {
    get: (_, name) => {
      if (name === 'collection') return collection;
      return name === 'command' ? command : bound(db, name);
    },
  });
}

function readingFrom(stale: Collection, current: Collection): Collection {
  return new Proxy(current, { get: (_, name) => bound(reading.includes(name) ? stale : current, name) });
}

function bound(target: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
}

/**
 * Opens the ledger as if just after an election: until something is written, reads miss everything that was written
 * after this call.
 */
export async function laggingLedger(db: Db): Promise<Collection<EntryDocument>> {
  const [stale, current] = [ledgerCollection(await staleReads(db, ['ledger'])), ledgerCollection(db)];
  let isLagging = true;
  return new Proxy(current, {
    get(_, name) {
      if (name === 'insertMany') isLagging = false;
      return bound(isLagging ? stale : current, name);
    },
  });
}
