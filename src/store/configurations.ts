import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from './mongo.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument, Sealing } from './sealed-document.ts';

/** The configuration that all processes run: who published it, and where. */
export interface ConfigurationHead {
  /** Grows by one with each publication. */
  readonly version: number;
  /** Of the text: 12 hex digits of its SHA-256. */
  readonly hash: string;
  /** An operator's name, `signal` or `start`. */
  readonly by: string;
  /** Of the process that read and checked the file. */
  readonly node: string;
  /** Unix milliseconds, by that process's clock. */
  readonly at: number;
}

export interface PublishedConfiguration extends ConfigurationHead {
  /** Before `${NAME}` is replaced. */
  readonly text: string;
}

type NewConfiguration = Omit<PublishedConfiguration, 'version'>;

interface ConfigurationDocument {
  readonly _id: typeof only;
  readonly version: bigint;
  readonly hash: string;
  readonly by: string;
  readonly node: string;
  readonly at: number;
  readonly sealed: SealedDocument;
  /** Of all texts that were published, this one included; the newest last. */
  readonly hashes: readonly string[];
}

const only = 'published';
const hashesMax = 200;

export type ConfigurationStore = ReturnType<typeof createConfigurationStore>;

/** One document. Its text is sealed: a file may hold secrets instead of their names. */
export function createConfigurationStore(db: Db, { seal, open }: Sealing) {
  const published: Collection<ConfigurationDocument> = db.collection<ConfigurationDocument>('configuration');

  async function replace({ text, hash, by, node, at }: NewConfiguration): Promise<ConfigurationHead> {
    const sealed = toSealedDocument(seal('configuration', text));
    const document = await published.findOneAndUpdate(
      { _id: only, hash: { $ne: hash } },
      {
        $set: { hash, by, node, at, sealed },
        $inc: { version: 1n },
        $push: { hashes: { $each: [hash], $slice: -hashesMax } },
      },
      { upsert: true, returnDocument: 'after', projection: { sealed: 0, hashes: 0 } },
    );
    if (document === null) throw new Error('an upsert has returned nothing');
    return toHead(document);
  }

  async function head(): Promise<ConfigurationHead | undefined> {
    const found = await published.findOne({ _id: only }, { projection: { sealed: 0, hashes: 0 } });
    return found === null ? undefined : toHead(found);
  }

  return {
    head,

    async read(): Promise<PublishedConfiguration | undefined> {
      const found = await published.findOne({ _id: only }, { projection: { hashes: 0 } });
      if (found === null) return undefined;
      return { ...toHead(found), text: open('configuration', toSealed(found.sealed)) };
    },

    /** Whether this text was in force once. */
    async wasPublished(hash: string): Promise<boolean> {
      return (await published.findOne({ _id: only, hashes: hash }, { projection: { _id: 1 } })) !== null;
    },

    /** The text that is in force already is not published again. Of two at once the later one stays in force. */
    async publish(next: NewConfiguration): Promise<ConfigurationHead> {
      for (;;) {
        try {
          return await replace(next);
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
        const found = await head();
        if (found?.hash === next.hash) return found;
      }
    },
  };
}

function toHead({
  version,
  hash,
  by,
  node,
  at,
}: Omit<ConfigurationDocument, 'sealed' | 'hashes'>): ConfigurationHead {
  return { version: Number(version), hash, by, node, at };
}
