import type { Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import { durable, ensureIndexes, openCollection, readByWrite, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

export interface ConfigurationHead {
  readonly version: number;
  readonly hash: string;
  readonly currency: string;
  /** The name of an operator, or `signal` or `start` if a process published its own configuration. */
  readonly by: string;
  readonly reason?: string;
  readonly file?: string;
  readonly node: string;
  /** Unix milliseconds by the clock of the process that published it. */
  readonly at: number;
}

export interface PublishedConfiguration extends ConfigurationHead {
  /** The text before `${NAME}` is substituted. */
  readonly text: string;
}

interface NewConfiguration extends Omit<PublishedConfiguration, 'version' | 'file'> {
  /** Set if the text came from a draft or an earlier version rather than a file. */
  readonly isDraft?: true;
}

interface ConfigurationDocument extends Omit<ConfigurationHead, 'version'> {
  readonly _id: string;
  readonly version: bigint;
  readonly sealed: SealedDocument;
  /** Incremented by reads that are sent as writes. See `readByWrite`. */
  readonly reads?: number;
}

const only = 'published';
const versionsShownMax = 100;
/** Ids are zero-padded, so that they sort numerically. */
const versionDigits = 10;
const place = { purpose: 'configuration', id: only } as const;

export type ConfigurationStore = ReturnType<typeof createConfigurationStore>;

/** Keeps the published configuration and all earlier versions. Texts are sealed, because a file may contain secrets. */
export function createConfigurationStore(db: Db, { seal, open }: Sealing) {
  const published = openCollection<ConfigurationDocument>(db, 'configuration', durable);
  const replaced = openCollection<ConfigurationDocument>(db, 'replaced_configurations', durable);

  async function publishOver(
    before: ConfigurationDocument | undefined,
    { text, isDraft, ...next }: NewConfiguration,
  ): Promise<ConfigurationHead | undefined> {
    if (before?.hash === next.hash) return toHead(before);
    const version = (before?.version ?? 0n) + 1n;
    const sealed = toSealedDocument(seal(place, text));
    const document = { version, ...next, sealed };
    if (before === undefined) {
      const isFirst = await unlessThere(() => published.insertOne({ _id: only, ...document }));
      return isFirst ? toHead(document) : undefined;
    }
    await noteReplaced(before);
    const whole = isDraft ? { ...document, file: before.file ?? before.hash } : document;
    const { matchedCount } = await published.replaceOne({ _id: only, version: before.version }, whole);
    return matchedCount === 0 ? undefined : toHead(whole);
  }

  /**
   * Must run before the replacement. If the process dies between the two, the version is stored twice rather than lost.
   */
  async function noteReplaced({ reads: _reads, ...document }: ConfigurationDocument): Promise<void> {
    const _id = versionId(document.version);
    const text = open(place, toSealed(document.sealed));
    const sealed = toSealedDocument(seal(placeOfReplaced(_id), text));
    await unlessThere(() => replaced.insertOne({ ...document, _id, sealed }));
  }

  async function head(): Promise<ConfigurationHead | undefined> {
    const found = await published.findOne({ _id: only }, { projection: { sealed: 0 } });
    return found === null ? undefined : toHead(found);
  }

  /** Reads the version that a majority of the servers has. Use this for decisions. */
  async function confirmHead(): Promise<ConfigurationHead | undefined> {
    const [count, after] = readByWrite;
    const options = { ...after, projection: { sealed: 0 } };
    const found = await published.findOneAndUpdate({ _id: only }, count, options);
    return found === null ? undefined : toHead(found);
  }

  async function confirmWhole(): Promise<ConfigurationDocument | undefined> {
    return (await published.findOneAndUpdate({ _id: only }, ...readByWrite)) ?? undefined;
  }

  return {
    ensureIndexes: () => ensureIndexes(replaced, [{ name: 'hash', key: { hash: 1 } }]),

    /** May return a stale version, so use it only for display. */
    head,
    confirmHead,

    async read(): Promise<PublishedConfiguration | undefined> {
      const found = await published.findOne({ _id: only });
      if (found === null) return undefined;
      return { ...toHead(found), text: open(place, toSealed(found.sealed)) };
    },

    /**
     * Returns true if this text is active or ever was. A result of false has been confirmed by a majority of the
     * servers.
     */
    async wasPublished(hash: string): Promise<boolean> {
      if ((await head())?.hash === hash || (await replaced.findOne({ hash })) !== null) return true;
      const found = await replaced.findOneAndUpdate({ hash }, ...readByWrite);
      return found !== null || (await confirmHead())?.hash === hash;
    },

    async replaced(): Promise<readonly ConfigurationHead[]> {
      const found = await replaced
        .find({}, { projection: { sealed: 0 } })
        .sort({ _id: -1 })
        .limit(versionsShownMax)
        .toArray();
      return found.map(toHead);
    },

    async textOf(version: number): Promise<string | undefined> {
      const _id = versionId(version);
      const found = await replaced.findOne({ _id });
      return found === null ? undefined : open(placeOfReplaced(_id), toSealed(found.sealed));
    },

    /** Does nothing if the text is already active. If two processes publish concurrently, the later one wins. */
    async publish(next: NewConfiguration): Promise<ConfigurationHead> {
      for (;;) {
        const after = await publishOver(await confirmWhole(), next);
        if (after !== undefined) return after;
      }
    },

    async publishAfter(version: number, next: NewConfiguration): Promise<ConfigurationHead | undefined> {
      const before = await confirmWhole();
      return before === undefined || before.version !== BigInt(version)
        ? undefined
        : publishOver(before, next);
    },
  };
}

function versionId(version: bigint | number): string {
  return String(version).padStart(versionDigits, '0');
}

function placeOfReplaced(id: string) {
  return { purpose: 'replaced-configuration', id } as const;
}

function toHead({
  version,
  hash,
  currency,
  by,
  reason,
  file,
  node,
  at,
}: Omit<ConfigurationDocument, '_id' | 'sealed' | 'reads'>): ConfigurationHead {
  return { version: Number(version), hash, currency, by, node, at, ...defined({ reason, file }) };
}
