import type { Db } from 'mongodb';
import type { ConfigChange } from '../base/config-change.ts';
import { durable, openCollection, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

export interface DraftEdit {
  readonly revision: number;
  readonly by: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly changes: readonly ConfigChange[];
}

/** The configuration that operators are editing. The whole gateway has a single draft. */
export interface ConfigDraft {
  readonly revision: number;
  readonly base: number;
  readonly text: string;
  readonly edits: readonly DraftEdit[];
}

interface DraftDocument {
  readonly _id: string;
  readonly revision: number;
  readonly base?: number;
  readonly edits: readonly DraftEdit[];
  readonly sealed?: SealedDocument;
}

export interface ConfiguredSecret {
  readonly name: string;
  /** The last characters of the secret, for display. Empty if the secret is short. */
  readonly ending: string;
  readonly at: number;
  readonly by: string;
  /** The only origin to which the secret may be sent. Undefined if it is not for an upstream. */
  readonly origin?: string;
}

interface SecretDocument extends Omit<ConfiguredSecret, 'name'> {
  readonly _id: string;
  readonly sealed: SealedDocument;
}

const only = 'draft';
const place = { purpose: 'draft', id: only } as const;
const editsMax = 20;

export type ConfigDraftStore = ReturnType<typeof createConfigDraftStore>;

export function createConfigDraftStore(db: Db, { seal, open }: Sealing) {
  const drafts = openCollection<DraftDocument>(db, 'configuration_drafts', durable);
  const secrets = openCollection<SecretDocument>(db, 'configured_secrets', durable);

  async function replace(revision: number, next: Omit<DraftDocument, '_id' | 'revision'>): Promise<boolean> {
    const document = { ...next, revision: revision + 1 };
    if (revision === 0) return unlessThere(() => drafts.insertOne({ _id: only, ...document }));
    const { matchedCount } = await drafts.replaceOne({ _id: only, revision }, document);
    return matchedCount === 1;
  }

  return {
    /** Revision 0 means that no draft has ever existed. */
    async read(): Promise<{ readonly revision: number; readonly draft?: ConfigDraft }> {
      const found = await drafts.findOne({ _id: only });
      if (found === null) return { revision: 0 };
      const { revision, base, edits, sealed } = found;
      if (sealed === undefined || base === undefined) return { revision };
      return { revision, draft: { revision, base, edits, text: open(place, toSealed(sealed)) } };
    },

    /** Returns false if the draft has been changed or discarded since this revision. */
    write: ({ revision, base, text, edits }: ConfigDraft): Promise<boolean> =>
      replace(revision, { base, edits: edits.slice(-editsMax), sealed: toSealedDocument(seal(place, text)) }),

    discard: (revision: number): Promise<boolean> => replace(revision, { edits: [] }),

    async keepSecret({
      name,
      value,
      ...about
    }: ConfiguredSecret & { readonly value: string }): Promise<void> {
      const sealed = toSealedDocument(seal(secretPlace(name), value));
      await secrets.insertOne({ _id: name, ...about, sealed });
    },

    async listSecrets(): Promise<readonly ConfiguredSecret[]> {
      const found = await secrets
        .find({}, { projection: { sealed: 0 } })
        .sort({ _id: 1 })
        .toArray();
      return found.map(({ _id: name, sealed: _sealed, ...about }) => ({ name, ...about }));
    },

    async openSecrets(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
      if (names.length === 0) return new Map();
      const found = await secrets.find({ _id: { $in: [...names] } }).toArray();
      return new Map(found.map(({ _id, sealed }) => [_id, open(secretPlace(_id), toSealed(sealed))]));
    },
  };
}

function secretPlace(id: string) {
  return { purpose: 'configured-secret', id } as const;
}
