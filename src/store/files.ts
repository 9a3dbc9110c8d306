import type { Db, IndexDescription } from 'mongodb';
import type { Reach } from '../base/key-scope.ts';
import { defined } from '../base/defined.ts';
import type { UserFile } from '../models/user-file.ts';
import type { FileUploadStore } from './file-uploads.ts';
import { durable, ensureIndexes, openCollection } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

/** While the file is being written, `expiresAt` is the time at which its writer is presumed dead. */
interface FileDocument extends Omit<UserFile, 'id' | 'filename'> {
  readonly _id: string;
  readonly filename: SealedDocument;
  /** In the state `writing`, the bytes may be missing or incomplete. */
  readonly state: 'writing' | 'ready';
}

export interface FilePage {
  readonly files: readonly UserFile[];
  readonly hasMore: boolean;
}

export type FileStore = ReturnType<typeof createFileStore>;

export function createFileStore(db: Db, uploads: Pick<FileUploadStore, 'drop'>, sealing: Sealing) {
  const files = openCollection<FileDocument>(db, 'files', durable);
  const toFile = createToFile(sealing);
  return {
    ensureIndexes: () => ensureIndexes(files, indexes),

    /** Call this before writing the bytes, so that the file is deleted even if its writer dies. */
    async begin({ id: _id, filename: name, ...file }: UserFile): Promise<void> {
      const filename = toSealedDocument(sealing.seal(placeOf(_id), name));
      await files.insertOne({ _id, state: 'writing', ...file, filename });
    },

    async complete(id: string, expiresAt: number): Promise<boolean> {
      const update = { $set: { state: 'ready' as const, expiresAt } };
      return (await files.updateOne({ _id: id, state: 'writing' }, update)).matchedCount === 1;
    },

    /**
     * Hides a file that could not be deleted or written, and stops counting its bytes. The file is deleted at `at`.
     * Accepts a file in any state, because a `complete` that failed may still have taken effect.
     */
    async postponeRemoval(id: string, at: number): Promise<void> {
      await files.updateOne({ _id: id }, { $set: { state: 'writing', bytes: 0, expiresAt: at } });
    },

    async find(id: string): Promise<UserFile | undefined> {
      const found = await files.findOne({ _id: id, state: 'ready' });
      return found === null ? undefined : toFile(found);
    },

    /**
     * Lists files newest first, without those that have expired at `at`. `after` is the id of the previous page's last
     * file.
     */
    async list(
      { account, key }: Reach,
      { limit, after, at }: { readonly limit: number; readonly after?: string; readonly at: number },
    ): Promise<FilePage> {
      const _id = after === undefined ? undefined : { $lt: after };
      const found = await files
        .find({ account, ...defined({ key }), state: 'ready', expiresAt: { $gt: at }, ...defined({ _id }) })
        .sort({ _id: -1 })
        .limit(limit + 1)
        .toArray();
      return { files: found.slice(0, limit).map(toFile), hasMore: found.length > limit };
    },

    /** Includes files that are still being written, but not files that have expired at `at`. */
    async bytesOf(account: string, at: number): Promise<number> {
      const $match = { account, expiresAt: { $gt: at } };
      const $group = { _id: null, bytes: { $sum: '$bytes' } };
      const sums = files.aggregate<{ readonly bytes: number | bigint }>([{ $match }, { $group }]);
      const [sum] = await sums.toArray();
      return Number(sum?.bytes ?? 0);
    },

    async listDue(at: number, limit: number): Promise<readonly NamedFile[]> {
      const found = await files
        .find({ expiresAt: { $lte: at } }, nameOnly)
        .sort({ expiresAt: 1 })
        .limit(limit)
        .toArray();
      return found.map(toNamed);
    },

    async someReadyOf(account: string, limit: number): Promise<readonly NamedFile[]> {
      const found = await files.find({ account, state: 'ready' }, nameOnly).limit(limit).toArray();
      return found.map(toNamed);
    },

    async hasAnyOf(account: string): Promise<boolean> {
      return (await files.findOne({ account }, nameOnly)) !== null;
    },

    /** Afterwards, the reconciler also deletes the file's copies at upstreams. */
    async remove(id: string): Promise<void> {
      await uploads.drop(id);
      await files.deleteOne({ _id: id });
    },
  };
}

const indexes = [
  { name: 'account', key: { account: 1, state: 1, _id: -1 } },
  { name: 'key', key: { account: 1, key: 1, state: 1, _id: -1 } },
  { name: 'expire', key: { expiresAt: 1 } },
] satisfies IndexDescription[];

const nameOnly = { projection: { name: 1 } } as const;

type NamedFile = Pick<UserFile, 'id' | 'name'>;

function toNamed({ _id: id, name }: Pick<FileDocument, '_id' | 'name'>): NamedFile {
  return { id, name };
}

const placeOf = (id: string) => ({ purpose: 'file-name', id }) as const;

function createToFile({ open }: Sealing) {
  return ({ _id: id, state: _state, filename: sealed, ...file }: FileDocument): UserFile => {
    try {
      return { id, ...file, filename: open(placeOf(id), toSealed(sealed)) };
    } catch {
      return { id, ...file, filename: unreadable };
    }
  };
}

const unreadable = 'cannot be read';
