import type { Collection, Db } from 'mongodb';
import { defined } from '../domain/defined.ts';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { UserFile } from '../domain/user-file.ts';
import type { FileUploadStore } from './file-uploads.ts';
import { ensureIndexes } from './mongo.ts';
import { sortKey } from './task-document.ts';

interface FileDocument {
  /** `file_…` */
  readonly _id: string;
  readonly account: string;
  /** By time and id, for the list. */
  readonly sort: string;
  /** `writing`: its bytes may be there or not. */
  readonly state: 'writing' | 'ready';
  readonly name: string;
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly media: MediaFacts;
  readonly created_at: number;
  /** When it is deleted; of one that is being written, when nobody writes it any more. Unix milliseconds. */
  readonly expire_at: number;
}

export interface FilePage {
  readonly files: readonly UserFile[];
  readonly hasMore: boolean;
}

export type FileStore = ReturnType<typeof createFileStore>;

export function createFileStore(db: Db, uploads: Pick<FileUploadStore, 'drop'>) {
  const files: Collection<FileDocument> = db.collection<FileDocument>('files');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(files, [
        { name: 'account', key: { account: 1, state: 1, sort: -1 } },
        { name: 'expire', key: { expire_at: 1 } },
      ]);
    },

    /** Before its bytes: what is on record is deleted, whoever dies while writing them. */
    async begin(file: UserFile): Promise<void> {
      await files.insertOne(toDocument(file));
    },

    /** All its bytes are there. False: it is on record no longer. */
    async complete(id: string, expiresAt: number): Promise<boolean> {
      const update = { $set: { state: 'ready' as const, expire_at: expiresAt } };
      return (await files.updateOne({ _id: id, state: 'writing' }, update)).matchedCount === 1;
    },

    /** Undefined: there is none whose bytes are there. */
    async find(id: string): Promise<UserFile | undefined> {
      const found = await files.findOne({ _id: id, state: 'ready' });
      return found === null ? undefined : toFile(found);
    },

    /** Newest first; `after` is the last file of the page before. */
    async list(
      account: string,
      { limit, after }: { readonly limit: number; readonly after?: UserFile },
    ): Promise<FilePage> {
      const sort = after === undefined ? undefined : { $lt: sortKey(after.createdAt, after.id) };
      const found = await files
        .find({ account, state: 'ready', ...defined({ sort }) })
        .sort({ sort: -1 })
        .limit(limit + 1)
        .toArray();
      return { files: found.slice(0, limit).map(toFile), hasMore: found.length > limit };
    },

    /** Of all files of an account, those that are being written too. */
    async bytesOf(account: string): Promise<number> {
      const [sum] = await files
        .aggregate<{ readonly bytes: number | bigint }>([
          { $match: { account } },
          { $group: { _id: null, bytes: { $sum: '$bytes' } } },
        ])
        .toArray();
      return Number(sum?.bytes ?? 0);
    },

    async listDue(at: number, limit: number): Promise<readonly NamedFile[]> {
      const found = await files
        .find({ expire_at: { $lte: at } }, nameOnly)
        .sort({ expire_at: 1 })
        .limit(limit)
        .toArray();
      return found.map(toNamed);
    },

    /** Of any state, in no order. */
    async someOf(account: string, limit: number): Promise<readonly NamedFile[]> {
      return (await files.find({ account }, nameOnly).limit(limit).toArray()).map(toNamed);
    },

    /** With its copies at upstreams, which the reconciler deletes. */
    async remove(id: string): Promise<void> {
      await uploads.drop(id);
      await files.deleteOne({ _id: id });
    },
  };
}

const nameOnly = { projection: { name: 1 } } as const;

type NamedFile = Pick<UserFile, 'id' | 'name'>;

function toNamed({ _id: id, name }: Pick<FileDocument, '_id' | 'name'>): NamedFile {
  return { id, name };
}

function toDocument({ id, createdAt, expiresAt, ...file }: UserFile): FileDocument {
  const sort = sortKey(createdAt, id);
  return { _id: id, sort, state: 'writing', ...file, created_at: createdAt, expire_at: expiresAt };
}

function toFile({
  _id: id,
  created_at: createdAt,
  expire_at: expiresAt,
  ...document
}: FileDocument): UserFile {
  const { sort: _sort, state: _state, ...file } = document;
  return { id, ...file, createdAt, expiresAt };
}
