import type { Db } from 'mongodb';
import type { Sealed } from '../base/sealed.ts';
import { durable, openCollection, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument } from './sealed-document.ts';

interface RootKeyDocument {
  readonly _id: string;
  readonly sealed: SealedDocument;
}

const _id = 'root';

export type RootKeyStore = ReturnType<typeof createRootKeyStore>;

export function createRootKeyStore(db: Db) {
  const secrets = openCollection<RootKeyDocument>(db, 'secrets', durable);
  return {
    id: _id,

    async find(): Promise<Sealed | undefined> {
      const found = await secrets.findOne({ _id });
      return found === null ? undefined : toSealed(found.sealed);
    },

    insert: (sealed: Sealed): Promise<boolean> =>
      unlessThere(() => secrets.insertOne({ _id, sealed: toSealedDocument(sealed) })),
  };
}
