import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { isWithin, type Reach } from '../base/key-scope.ts';
import { GatewayError, serviceUnavailable } from '../errors/errors.ts';
import { newFileId, type RandomBytes } from '../base/ids.ts';
import type { UserFile } from '../models/user-file.ts';
import { GuardedRequestError, type GuardedClient } from '../http-client/index.ts';
import { saveMedia } from '../images/save-media.ts';
import { extensionFor } from '../results/media-types.ts';
import { lateWriteMs, type ResultStorage } from '../results/storage.ts';
import type { FilePage, FileStore } from '../store/files.ts';
import type { MediaProbe } from './media-probe.ts';
import type { MediaSource } from './media-source.ts';
import { timeLimit } from '../process/running-time.ts';

export interface FileSettings {
  readonly bytesMax: number;
  readonly accountBytesMax: number;
  readonly retentionSeconds: number;
}

export interface FilesDeps extends FileSettings {
  readonly store: FileStore;
  readonly storage: Pick<ResultStorage, 'write' | 'remove' | 'refusal'>;
  readonly probe: Pick<MediaProbe, 'probe'>;
  readonly openMedia: GuardedClient['openMedia'];
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export interface NewFile {
  readonly account: string;
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly param: string;
}

export interface Files {
  readonly bytesMax: number;
  /**
   * @throws GatewayError request_too_large, storage_quota_exceeded, or (for anything but a media file)
   * invalid_parameter
   */
  add(file: NewFile): Promise<UserFile>;
  addFetched(url: string, file: Omit<NewFile, 'bytes'>): Promise<UserFile>;
  find(id: string, reach: Reach): Promise<UserFile | undefined>;
  /** Newest first. `after` is the id of the last file on the previous page, which may have been removed since. */
  list(reach: Reach, page: { readonly limit: number; readonly after?: string }): Promise<FilePage>;
  /** Removes the bytes first. If a call fails halfway, the next call or the file's expiry completes the removal. */
  remove(file: UserFile): Promise<void>;
}

const probeMs = 30_000;
/** If writing a file takes longer than this, its record and any bytes are removed. */
const writingMs = { base: 120_000, perMebibyte: 1_000 } as const;

export function createFiles(deps: FilesDeps): Files {
  const { store, storage, now } = deps;
  return {
    bytesMax: deps.bytesMax,
    add: (file) => addFile(file, deps),
    addFetched: async (url, file) => addFile({ ...file, bytes: await fetchTo(file, url, deps) }, deps),
    async find(id, reach) {
      const file = await store.find(id);
      return file !== undefined && isWithin(reach, file) && file.expiresAt > now() ? file : undefined;
    },
    list: (reach, page) => store.list(reach, { ...page, at: now() }),
    async remove({ id, name }) {
      await storage.remove(`${id}/${name}`);
      await store.remove(id);
    },
  };
}

async function addFile(added: NewFile, deps: FilesDeps): Promise<UserFile> {
  const { store, storage, now } = deps;
  const { path, param, ...described } = added;
  if (added.bytes > deps.bytesMax) throw tooLarge(param, deps);
  const refusal = await storage.refusal();
  if (refusal !== undefined) throw refusal;
  const inTime = timeLimit(probeMs);
  const media = await deps.probe.probe(diskSource(added), added.account, inTime);
  if (media === undefined && inTime.aborted) throw serviceUnavailable('a file was not read in time');
  const extension = media === undefined ? undefined : extensionFor(media.mediaType);
  if (media === undefined || extension === undefined) throw notAMedium(param);
  const createdAt = now();
  const file = {
    ...described,
    id: newFileId(createdAt, deps.randomBytes),
    name: `0.${extension}`,
    media,
    createdAt,
    expiresAt: createdAt + deps.retentionSeconds * 1000,
  };
  await store.begin({ ...file, expiresAt: createdAt + writingMsOf(file) });
  try {
    await requireRoom(file, deps);
  } catch (error) {
    await store.remove(file.id).catch(() => undefined);
    throw error;
  }
  try {
    await storage.write(`${file.id}/${file.name}`, createReadStream(path), { mediaType: media.mediaType });
    if (!(await store.complete(file.id, file.expiresAt))) throw serviceUnavailable('a file took too long');
  } catch (error) {
    await giveUp(file, deps).catch(() => undefined);
    throw error;
  }
  return file;
}

function writingMsOf({ bytes }: Pick<UserFile, 'bytes'>): number {
  return writingMs.base + Math.ceil(bytes / 2 ** 20) * writingMs.perMebibyte;
}

/**
 * Hides the file and stops counting its bytes, even if the bytes cannot be removed. The reconciler later deletes what
 * an aborted write has left behind.
 */
async function giveUp(
  { id, name }: Pick<UserFile, 'id' | 'name'>,
  { store, storage, now }: FilesDeps,
): Promise<void> {
  await store.postponeRemoval(id, now() + lateWriteMs);
  await storage.remove(`${id}/${name}`);
}

/**
 * Throws if the account has no room for the file. The file is already part of the account's total, so concurrent files
 * cannot exceed the limit together.
 */
async function requireRoom(
  { account, bytes }: Pick<UserFile, 'account' | 'bytes'>,
  { store, accountBytesMax, now }: FilesDeps,
): Promise<void> {
  const stored = await store.bytesOf(account, now());
  if (stored <= accountBytesMax) return;
  throw new GatewayError(
    'storage_quota_exceeded',
    `This file has ${bytes} bytes, so the account would store ${stored} bytes. The limit is ${accountBytesMax}. Delete some files.`,
  );
}

const fetchMs = 60_000;

async function fetchTo(
  { path, param }: Pick<NewFile, 'path' | 'param'>,
  url: string,
  deps: FilesDeps,
): Promise<number> {
  const { openMedia, bytesMax: maxBytes } = deps;
  try {
    return await saveMedia({ openMedia, url, maxBytes, timeoutMs: fetchMs }, path);
  } catch (error) {
    if (!(error instanceof GuardedRequestError)) throw error;
    const { code } = error;
    if (code === 'answer_too_large') throw tooLarge(param, deps);
    throw new GatewayError(
      code === 'address_refused' ? 'media_url_not_allowed' : 'invalid_parameter',
      code === 'address_refused' ? 'The URL is not allowed.' : 'The file at `url` could not be fetched.',
      { param, detail: code },
    );
  }
}

function tooLarge(param: string, { bytesMax }: Pick<FilesDeps, 'bytesMax'>): GatewayError {
  return new GatewayError('request_too_large', `A file must not exceed ${bytesMax} bytes.`, { param });
}

function diskSource({ path, bytes }: NewFile): MediaSource {
  return {
    bytes,
    async read(start, end) {
      const file = await open(path, 'r');
      try {
        const piece = Buffer.alloc(Math.max(0, Math.min(end, bytes) - start));
        const { bytesRead } = await file.read(piece, 0, piece.length, start);
        return piece.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
  };
}

function notAMedium(param: string): GatewayError {
  return new GatewayError(
    'invalid_parameter',
    'The file must be an image (PNG, JPEG, WebP, GIF), a video (MP4, MOV, WebM) or audio (MP3, WAV, M4A, OGG, FLAC, AAC) that can be read.',
    { param },
  );
}
