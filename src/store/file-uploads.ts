import type { Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import { findDueByChannel } from './due-by-channel.ts';
import { durable, ensureIndexes, openCollection, unlessThere, updateWith } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

export interface UploadKey {
  readonly file: string;
  readonly channel: string;
  readonly credential: string;
}

export interface StoredUpload extends UploadKey {
  readonly id?: string;
  readonly tries: number;
  /** Changes when another caller claims the same copy. */
  readonly owner: string;
}

export interface ReadyUpload {
  readonly id: string;
  readonly url: string;
  /** Unix milliseconds. From this time on, no request may refer to the upload. */
  readonly usableUntil: number;
  readonly dueAt: number;
}

export type Claim =
  | { readonly kind: 'ours' }
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'busy'; readonly owner: string };

interface UploadDocument extends StoredUpload, Partial<Omit<ReadyUpload, 'dueAt' | 'url'>> {
  /** `<file>/<channel>/<credential>` */
  readonly _id: string;
  readonly state: 'uploading' | 'ready';
  readonly url?: SealedDocument;
  /** When the copy is due to be deleted. 0 if the file has been removed. */
  readonly dueAt: number;
}

export type FileUploadStore = ReturnType<typeof createFileUploadStore>;

/** After this time, the uploading process is presumed dead, in milliseconds. */
const forgottenMs = 86_400_000;

export function createFileUploadStore(db: Db, now: () => number, { seal, open }: Sealing) {
  const uploads = openCollection<UploadDocument>(db, 'file_uploads', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(uploads, [
        { name: 'file', key: { file: 1 } },
        { name: 'channel_due', key: { channel: 1, dueAt: 1 } },
      ]),

    /**
     * Only one of several concurrent callers may upload the file. `gone` is the owner of a stuck upload that the caller
     * may take over.
     */
    async claim(key: UploadKey, owner: string, gone = ''): Promise<Claim> {
      const _id = idOf(key);
      const begun = { state: 'uploading' as const, owner, dueAt: now() + forgottenMs, tries: 0 };
      const isFree = [
        { state: 'uploading' as const, owner: gone },
        { state: 'ready' as const, usableUntil: { $lte: now() }, dueAt: { $gt: 0 } },
      ];
      if ((await uploads.findOneAndUpdate({ _id, $or: isFree }, updateWith({ $set: begun }))) !== null)
        return { kind: 'ours' };
      if (await unlessThere(() => uploads.insertOne({ _id, ...key, ...begun }))) return { kind: 'ours' };
      const { state, url, owner: other = '' } = (await uploads.findOne({ _id })) ?? {};
      if (state !== 'ready' || url === undefined) return { kind: 'busy', owner: other };
      return { kind: 'ready', url: open(placeOf(_id), toSealed(url)) };
    },

    /** Returns false if another caller took over the upload or if the file was removed. */
    async complete(key: UploadKey, owner: string, ready: ReadyUpload): Promise<boolean> {
      const _id = idOf(key);
      const url = toSealedDocument(seal(placeOf(_id), ready.url));
      const $set = { state: 'ready' as const, ...ready, url };
      const owned = { _id, owner, dueAt: { $gt: 0 } };
      return (await uploads.updateOne(owned, { $set })).matchedCount === 1;
    },

    async abandon(key: UploadKey, owner: string): Promise<void> {
      await uploads.deleteOne({ _id: idOf(key), owner, state: 'uploading' });
    },

    /** Call this when a file is removed, so that its copies at upstreams are deleted soon. */
    async drop(file: string): Promise<void> {
      await uploads.updateMany({ file }, { $set: { dueAt: 0, usableUntil: 0 } });
    },

    async listDue(eachMax: number): Promise<readonly StoredUpload[]> {
      return (await findDueByChannel(uploads, {}, { at: now(), eachMax })).map(toUpload);
    },

    /** Does nothing if another caller has claimed the upload since. */
    async postpone({ owner, ...key }: StoredUpload, dueAt: number): Promise<void> {
      await uploads.updateOne({ _id: idOf(key), owner }, { $set: { dueAt }, $inc: { tries: 1 } });
    },

    /** Does nothing if another caller has claimed the upload since. */
    async remove({ owner, ...key }: StoredUpload): Promise<void> {
      await uploads.deleteOne({ _id: idOf(key), owner });
    },
  };
}

const placeOf = (id: string) => ({ purpose: 'upload-link', id }) as const;

function toUpload({ file, channel, credential, id, tries, owner }: UploadDocument): StoredUpload {
  return { file, channel, credential, tries, owner, ...defined({ id }) };
}

function idOf({ file, channel, credential }: UploadKey): string {
  return `${file}/${channel}/${credential}`;
}
