import type { Db } from 'mongodb';
import type { Sealed, SealPurpose } from '../base/sealed.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument } from './sealed-document.ts';
import { durable, openCollection } from './mongo.ts';

/** Documents of one collection that hold sealed values. */
export interface SealedPlace {
  /** Of the collection. */
  readonly name: string;
  readonly purpose: SealPurpose;
  /** The ids of the keys of each document's values, in order of the documents' ids; at most a page. */
  page(after?: string): Promise<readonly HeldKeys[]>;
  /** Replaces the values of a document. False: somebody has changed or removed them since they were read. */
  rewrite(id: string, reseal: (sealed: Sealed) => Sealed): Promise<boolean>;
}

export interface HeldKeys {
  readonly id: string;
  readonly keyIds: readonly string[];
}

/** Every sealed value of the product lies in one of these. */
export function createSealedPlaces(db: Db): readonly SealedPlace[] {
  return [
    createSealedPlace(db, { name: 'secrets', field: 'sealed', purpose: 'root-key' }),
    createSealedPlace(db, { name: 'configuration', field: 'sealed', purpose: 'configuration' }),
    createSealedPlace(db, { name: 'accounts', field: 'webhookSecrets', purpose: 'webhook-secret' }),
    createSealedPlace(db, { name: 'account_alerts', field: 'sealed', purpose: 'alert-address' }),
    createSealedPlace(db, { name: 'requests', field: 'sealed', purpose: 'request' }),
    createSealedPlace(db, { name: 'tasks', field: 'words', purpose: 'upstream-words' }),
  ];
}

type Held = SealedDocument | readonly SealedDocument[];

interface HolderDocument {
  readonly _id: string;
  /** One field holds the sealed values; the others are none of our business. */
  readonly [field: string]: Held | string;
}

/** Ids and key ids only: what is sealed may have many megabytes. */
const pageDocuments = 500;

function createSealedPlace(
  db: Db,
  { name, field, purpose }: Pick<SealedPlace, 'name' | 'purpose'> & { readonly field: string },
): SealedPlace {
  const holders = openCollection<HolderDocument>(db, name, durable);
  return {
    name,
    purpose,

    async page(after) {
      const found = await holders
        .find(after === undefined ? {} : { _id: { $gt: after } })
        .project<HolderDocument>({ [`${field}.key`]: 1 })
        .sort({ _id: 1 })
        .limit(pageDocuments)
        .toArray();
      return found.map((holder) => ({
        id: holder._id,
        keyIds: listHeld(holder[field]).map(({ key }) => key),
      }));
    },

    async rewrite(_id, reseal) {
      const held = (await holders.findOne({ _id }, { projection: { [field]: 1 } }))?.[field];
      if (held === undefined || typeof held === 'string') return false;
      const rewritten = listHeld(held).map((one) => toSealedDocument(reseal(toSealed(one))));
      const value = 'head' in held ? rewritten[0] : rewritten;
      // A value of many megabytes, twice in one command, would be more than MongoDB takes.
      const unchanged = 'head' in held ? { [`${field}.head`]: held.head } : { [field]: held };
      const { matchedCount } = await holders.updateOne({ _id, ...unchanged }, { $set: { [field]: value } });
      return matchedCount === 1;
    },
  };
}

function listHeld(held: Held | string | undefined): readonly SealedDocument[] {
  if (held === undefined || typeof held === 'string') return [];
  return 'key' in held ? [held] : held;
}
