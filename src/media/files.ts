import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { isWithin } from '../base/key-scope.ts';
import type { Reach } from '../base/key-scope.ts';
import { GatewayError, serviceUnavailable } from '../errors/errors.ts';
import { newFileId } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import type { UserFile } from '../models/user-file.ts';
import { GuardedRequestError } from '../http-client/index.ts';
import type { GuardedClient } from '../http-client/index.ts';
import { saveMedia } from '../images/save-media.ts';
import { extensionFor } from '../results/media-types.ts';
import type { ResultStorage } from '../results/storage.ts';
import type { FilePage, FileStore } from '../store/files.ts';
import type { MediaProbe } from './media-probe.ts';
import type { MediaSource } from './media-source.ts';

export interface FileSettings {
  /** Of one file. */
  readonly bytesMax: number;
  /** Of all files of one account together. */
  readonly accountBytesMax: number;
  readonly retentionSeconds: number;
}

export interface FilesDeps extends FileSettings {
  readonly store: FileStore;
  readonly storage: Pick<ResultStorage, 'write' | 'remove'>;
  readonly probe: Pick<MediaProbe, 'probe'>;
  readonly openMedia: GuardedClient['openMedia'];
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

/** A file of a request, on this machine's disk for as long as the request. */
export interface NewFile {
  readonly account: string;
  /** The key that stored the file. */
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  /** The field that it came by, for errors. */
  readonly param: string;
}

/** The files that accounts have stored for their requests. */
export interface Files {
  /** Of one file. */
  readonly bytesMax: number;
  /** Throws request_too_large, storage_quota_exceeded, and invalid_parameter for what is not a medium. */
  add(file: NewFile): Promise<UserFile>;
  /** From an address that a caller names, by way of `path`. Throws media_url_not_allowed, too. */
  addFetched(url: string, file: Omit<NewFile, 'bytes'>): Promise<UserFile>;
  /** Returns undefined if the file does not exist, is out of reach or has expired. */
  find(id: string, reach: Reach): Promise<UserFile | undefined>;
  /** Newest first; `after`: the id of the last file of the page before, which may be gone. */
  list(reach: Reach, page: { readonly limit: number; readonly after?: string }): Promise<FilePage>;
  /** Its bytes first: what fails in between is done once more by whoever asks again, or by its expiry. */
  remove(file: UserFile): Promise<void>;
}

const probeMs = 30_000;
/** Nobody writes a file for so long: its record goes, with what there is of it. */
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
  const inTime = AbortSignal.timeout(probeMs);
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
    await storage.write(`${file.id}/${file.name}`, createReadStream(path), media.mediaType);
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

/** It counts no longer, whatever fails then: the reconciler deletes what is left. */
async function giveUp(
  { id, name }: Pick<UserFile, 'id' | 'name'>,
  { store, storage, now }: FilesDeps,
): Promise<void> {
  await store.giveUp(id, now());
  await storage.remove(`${id}/${name}`);
  await store.remove(id);
}

/** Its own bytes are counted already: of several at once none passes the limit. */
async function requireRoom(
  { account, bytes }: Pick<UserFile, 'account' | 'bytes'>,
  { store, accountBytesMax, now }: FilesDeps,
): Promise<void> {
  const stored = await store.bytesOf(account, now());
  if (stored <= accountBytesMax) return;
  throw new GatewayError(
    'storage_quota_exceeded',
    `The files of this account would have ${stored} bytes with this one of ${bytes}, and the limit is ${accountBytesMax}. Delete some.`,
  );
}

const fetchMs = 60_000;

/** What a private server answered is not revealed: only the kind of failure is reported. */
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
      code === 'address_refused'
        ? 'The address in url is not allowed.'
        : 'The file at the address in url could not be fetched.',
      { param, detail: code },
    );
  }
}

function tooLarge(param: string, { bytesMax }: Pick<FilesDeps, 'bytesMax'>): GatewayError {
  return new GatewayError('request_too_large', `A file may have at most ${bytesMax} bytes.`, { param });
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
