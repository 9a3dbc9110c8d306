import type { Db } from 'mongodb';
import { sealedFields, sealPurposes, type Sealed, type SealedAt, type SealPurpose } from '../base/sealed.ts';
import { defined } from '../base/defined.ts';
import { toSealed, toSealedDocument, type SealedDocument, type SealedParts } from './sealed-document.ts';
import { durable, openCollection } from './mongo.ts';

export interface SealedPlace {
  readonly name: string;
  page(after?: string): Promise<readonly HeldKeys[]>;
  /** Returns false if the values have been changed or removed since they were read. */
  rewrite(id: string, reseal: (at: SealedAt, sealed: Sealed) => Sealed): Promise<boolean>;
}

export interface HeldKeys {
  readonly id: string;
  readonly keyIds: readonly string[];
}

export function createSealedPlaces(db: Db): readonly SealedPlace[] {
  return sealPurposes.map((purpose) => createSealedPlace(db, purpose));
}

type Held = SealedDocument | readonly SealedDocument[] | SealedParts;

interface HolderDocument {
  readonly _id: string;
  /** One of the fields contains the sealed values. The others are not used here. */
  readonly [field: string]: Held | string;
}

const pageDocuments = 500;

function createSealedPlace(db: Db, purpose: SealPurpose): SealedPlace {
  const place = sealedFields[purpose];
  const { collection: name, field } = place;
  const keys = 'parts' in place ? field : `${field}.key`;
  const holders = openCollection<HolderDocument>(db, name, durable);
  return {
    name,

    async page(after) {
      const found = await holders
        .find(after === undefined ? {} : { _id: { $gt: after } })
        .project<HolderDocument>({ [keys]: 1 })
        .sort({ _id: 1 })
        .limit(pageDocuments)
        .toArray();
      return found.map((holder) => ({
        id: holder._id,
        keyIds: listHeld(holder[field]).map(({ value }) => value.key),
      }));
    },

    async rewrite(_id, reseal) {
      const held = (await holders.findOne({ _id }, { projection: { [field]: 1 } }))?.[field];
      if (held === undefined || typeof held === 'string') return false;
      const rewritten = listHeld(held).map(({ part, value }) => {
        const at = { purpose, id: _id, ...defined({ part }) };
        return { part, value: toSealedDocument(reseal(at, toSealed(value))) };
      });
      // Compare only the first bytes. Values can be many megabytes long, and a command that contained both the old and
      // the new one would exceed MongoDB's limit.
      const unchanged = isSealedDocument(held) ? { [`${field}.head`]: held.head } : { [field]: held };
      const $set = { [field]: inForm(held, rewritten) };
      const { matchedCount } = await holders.updateOne({ _id, ...unchanged }, { $set });
      return matchedCount === 1;
    },
  };
}

interface HeldValue {
  readonly part?: string | undefined;
  readonly value: SealedDocument;
}

function listHeld(held: Held | string | undefined): readonly HeldValue[] {
  if (held === undefined || typeof held === 'string') return [];
  if (isSealedDocument(held)) return [{ value: held }];
  if (isList(held)) return held.map((value) => ({ value }));
  return Object.entries(held).map(([part, value]) => ({ part, value }));
}

function inForm(held: Held, values: readonly HeldValue[]): Held | undefined {
  if (isSealedDocument(held)) return values[0]?.value;
  if (isList(held)) return values.map(({ value }) => value);
  return Object.fromEntries(values.map(({ part = '', value }) => [part, value]));
}

function isSealedDocument(held: Held): held is SealedDocument {
  return 'key' in held;
}

function isList(held: Held): held is readonly SealedDocument[] {
  return Array.isArray(held);
}
