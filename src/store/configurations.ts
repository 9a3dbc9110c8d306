import type { Db } from 'mongodb';
import { durable, openCollection, readByWrite, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument, Sealing } from './sealed-document.ts';

/** The configuration that all processes run: who published it, and where. */
export interface ConfigurationHead {
  /** Grows by one with each publication. */
  readonly version: number;
  /** Of the text: 12 hex digits of its SHA-256. */
  readonly hash: string;
  /** Of all accounts. */
  readonly currency: string;
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
  readonly currency: string;
  readonly by: string;
  readonly node: string;
  readonly at: number;
  readonly sealed: SealedDocument;
  /** Counts the reads that are done as writes, to see what the majority has. */
  readonly reads?: number;
}

/** Of a text that was in force and was replaced: as many as there were publications, a line each. */
interface ReplacedDocument {
  /** Its hash. */
  readonly _id: string;
  readonly reads?: number;
}

const only = 'published';
const place = { purpose: 'configuration', id: only } as const;

export type ConfigurationStore = ReturnType<typeof createConfigurationStore>;

/** One document, and the hashes of those before. Its text is sealed: a file may hold secrets instead of their names. */
export function createConfigurationStore(db: Db, { seal, open }: Sealing) {
  const published = openCollection<ConfigurationDocument>(db, 'configuration', durable);

  const replaced = openCollection<ReplacedDocument>(db, 'replaced_configurations', durable);

  /** Undefined: another process was first. */
  async function replace(
    { text, hash, currency, by, node, at }: NewConfiguration,
    before: ConfigurationHead | undefined,
  ): Promise<ConfigurationHead | undefined> {
    const fields = { hash, currency, by, node, at, sealed: toSealedDocument(seal(place, text)) };
    const version = BigInt(before?.version ?? 0) + 1n;
    if (before === undefined) {
      const isFirst = await unlessThere(() => published.insertOne({ _id: only, version, ...fields }));
      if (!isFirst) return undefined;
    } else {
      const guarded = { _id: only, version: version - 1n } as const;
      const { matchedCount } = await published.updateOne(guarded, { $set: { version, ...fields } });
      if (matchedCount === 0) return undefined;
    }
    return toHead({ version, hash, currency, by, node, at });
  }

  /** Before it is replaced: whoever dies in between leaves no text that was in force and is not known. */
  async function noteReplaced(hash: string): Promise<void> {
    await unlessThere(() => replaced.insertOne({ _id: hash }));
  }

  async function head(): Promise<ConfigurationHead | undefined> {
    const found = await published.findOne({ _id: only }, { projection: { sealed: 0 } });
    return found === null ? undefined : toHead(found);
  }

  /** Reads what the majority has. Use it for decisions. */
  async function confirmHead(): Promise<ConfigurationHead | undefined> {
    const [count, after] = readByWrite;
    const options = { ...after, projection: { sealed: 0 } };
    const found = await published.findOneAndUpdate({ _id: only }, count, options);
    return found === null ? undefined : toHead(found);
  }

  return {
    /** May be out of date. Use it for what is only shown and soon read again. */
    head,
    confirmHead,

    async read(): Promise<PublishedConfiguration | undefined> {
      const found = await published.findOne({ _id: only });
      if (found === null) return undefined;
      return { ...toHead(found), text: open(place, toSealed(found.sealed)) };
    },

    /** Whether this text is or ever was in force. A negative answer is certain. */
    async wasPublished(hash: string): Promise<boolean> {
      if ((await head())?.hash === hash || (await replaced.findOne({ _id: hash })) !== null) return true;
      const found = await replaced.findOneAndUpdate({ _id: hash }, ...readByWrite);
      return found !== null || (await confirmHead())?.hash === hash;
    },

    /** The text that is in force already is not published again. Of two at once the later one stays in force. */
    async publish(next: NewConfiguration): Promise<ConfigurationHead> {
      for (;;) {
        const before = await confirmHead();
        if (before?.hash === next.hash) return before;
        if (before !== undefined) await noteReplaced(before.hash);
        const after = await replace(next, before);
        if (after !== undefined) return after;
      }
    },
  };
}

function toHead({
  version,
  hash,
  currency,
  by,
  node,
  at,
}: Omit<ConfigurationDocument, '_id' | 'sealed' | 'reads'>): ConfigurationHead {
  return { version: Number(version), hash, currency, by, node, at };
}
