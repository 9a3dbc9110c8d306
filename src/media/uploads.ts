import { uploadMs } from '../base/activity-times.ts';
import { randomUUID } from 'node:crypto';
import { periods } from '../base/periods.ts';
import { createWriteStream, openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createPlaces, type Places } from '../base/places.ts';
import { NoRoomError, NotReadError, noRoomOr } from '../errors/not-stored.ts';
import { createTurns } from '../base/turns.ts';
import { walk, type IsOver, type Walked } from '../base/walk.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { UserFile } from '../models/user-file.ts';
import type { Logger } from '../observability/log.ts';
import type { Provider, ProviderContext, UploadedMedia } from '../providers/provider.ts';
import { UpstreamError } from '../providers/provider.ts';
import type { MediaLinks } from '../results/media-links.ts';
import { ChannelGoneError, type Channels, type OpenChannel } from '../routing/channels.ts';
import type { FileStore } from '../store/files.ts';
import type { FileUploadStore, ReadyUpload, StoredUpload, UploadKey } from '../store/file-uploads.ts';
import { withAddresses } from './file-links.ts';
import { timeLimit } from '../process/running-time.ts';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../process/temporary-directories.ts';

export interface UploadsDeps {
  readonly uploads: FileUploadStore;
  readonly files: Pick<FileStore, 'find'>;
  readonly links: Pick<MediaLinks, 'read'>;
  readonly openStored: (file: string, name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  readonly channels: Channels;
  readonly copiesBytesMax: number;
  readonly log: Logger;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Uploads {
  /**
   * Replaces each link to one of our files with the upstream's own URL. A file is uploaded under this credential at
   * most once, however many requests need it. If the upstream cannot store files, the links are kept. If `signal`
   * aborts, this throws the signal's reason and abandons the upload that it started, so that the next request starts a
   * new one.
   * @throws UpstreamError
   */
  readonly register: (
    request: GenerationRequest,
    candidate: RouteCandidate,
    signal: AbortSignal,
  ) => Promise<GenerationRequest>;
  readonly removeDue: (isOver?: IsOver) => Promise<Walked>;
}

/** The time after which an upload has finished, successfully or not, in milliseconds. */
const abandonedMs = uploadMs + 30_000;
/** Requests stop using a file this long before the upstream deletes it, because a job may start late. */
const marginMs = 3_600_000;
const duePerStep = 100;
const removeMs = 20_000;
/** Limits the deletions per channel, so that a hanging upstream does not delay other channels. */
const removalsMax = { name: 'uploads deleted', placesMax: 8, shareMax: 2 } as const;
const triesMax = 10;
const copiesShare = 0.75;
const retryMs = 600_000;

export function createUploads(deps: UploadsDeps): Uploads {
  const { uploads, links, channels, copiesBytesMax, now } = deps;
  const shareMax = copiesBytesMax * copiesShare;
  const places = createPlaces({ name: 'copies for upstreams', placesMax: copiesBytesMax, shareMax });
  const copies = { places, shareMax };

  return {
    async register(request, candidate, signal) {
      const channel = channels(candidate.channel);
      const upload = channel?.provider.upload;
      if (channel === undefined || upload === undefined) return request;
      return withAddresses(request, async (url) => {
        const link = links.read(url);
        const file = link && (await deps.files.find(link.task));
        return file === undefined
          ? url
          : urlOf(file, { ...candidate, model: request.model, channel, upload, signal });
      });
    },

    removeDue: createRemoveDue(deps),
  };

  async function urlOf(file: UserFile, place: Place): Promise<string> {
    const key = { file: file.id, channel: place.channel.config.id, credential: place.credential };
    const owner = randomUUID();
    let other = { owner: '', since: now() };
    for (;;) {
      place.signal.throwIfAborted();
      const isGone = other.owner !== '' && now() - other.since > abandonedMs;
      const claim = await uploads.claim(key, owner, isGone ? other.owner : undefined);
      if (claim.kind === 'ready') return claim.url;
      if (claim.kind === 'ours') return uploadAs(owner, key, { file, place });
      if (claim.owner !== other.owner) other = { owner: claim.owner, since: now() };
      await deps.sleep(periods.upload.everyMs, place.signal);
    }
  }

  async function uploadAs(owner: string, key: UploadKey, { file, place }: Upload): Promise<string> {
    const contextFor = (ms: number): ProviderContext => {
      const signal = AbortSignal.any([timeLimit(ms), place.signal]);
      return place.channel.context(place.credential, place.model, signal);
    };
    try {
      const begunAt = now();
      const made = await withRoom(file, copies, () =>
        withBlob(file, deps, (blob) => place.upload({ blob, name: file.name }, contextFor(uploadMs))),
      );
      if (await uploads.complete(key, owner, readyOf(made, begunAt, file))) {
        // The file may have been deleted before its upload was recorded. Its upload is then no longer needed.
        if ((await deps.files.find(file.id)) === undefined) await uploads.drop(file.id);
        return made.url;
      }
      await place.channel.provider.removeUpload?.(made.id, contextFor(removeMs));
      throw new UpstreamError('unavailable', 'The file no longer exists.', { code: 'file_gone' });
    } catch (error) {
      await uploads.abandon(key, owner);
      place.signal.throwIfAborted();
      throw error;
    }
  }
}

function readyOf(
  { id, url, expiresAt = Number.MAX_SAFE_INTEGER, keptMs = Infinity }: UploadedMedia,
  begunAt: number,
  file: UserFile,
): ReadyUpload {
  const endsAt = Math.min(expiresAt, begunAt + keptMs);
  return { id, url, usableUntil: endsAt - marginMs, dueAt: Math.min(endsAt, file.expiresAt) };
}

interface Place {
  readonly channel: OpenChannel;
  readonly credential: string;
  readonly model: string;
  readonly upload: NonNullable<Provider['upload']>;
  readonly signal: AbortSignal;
}

interface Upload {
  readonly file: UserFile;
  readonly place: Place;
}

function createRemoveDue({ uploads, channels, log, now }: UploadsDeps) {
  const places = createPlaces(removalsMax);
  const turns = createTurns(({ channel }: StoredUpload) => channel);
  return async (isOver: IsOver = () => false): Promise<Walked> =>
    walk(await uploads.listDue(duePerStep), {
      loop: 'uploads to delete',
      isOver,
      turns,
      inPlace: ({ channel }, job) => places.run(channel, job),
      async run(upload) {
        await removeAtUpstream(upload, channels);
        await uploads.remove(upload);
        return true;
      },
      async onFailed(upload, err) {
        log.warn({ channel: upload.channel, err }, 'an upload could not be deleted');
        if (upload.tries < triesMax) await uploads.postpone(upload, now() + retryMs);
        else await uploads.remove(upload);
      },
    });
}

async function removeAtUpstream({ id, channel: name, credential }: StoredUpload, channels: Channels) {
  const channel = channels(name);
  if (id === undefined || channel?.provider.removeUpload === undefined) return;
  let context: ProviderContext;
  try {
    context = channel.context(credential, '', timeLimit(removeMs));
  } catch (error) {
    // We cannot delete the file without its credential. The upstream will delete it eventually.
    if (error instanceof ChannelGoneError) return;
    throw error;
  }
  await channel.provider.removeUpload(id, context);
}

/**
 * Throws UpstreamError if the files of the account, or all files together, would use too much of the disk. This error
 * is not counted against the upstream. A file that is larger than an account's share counts as the entire share.
 */
async function withRoom<Result>(
  { account, bytes }: UserFile,
  { places, shareMax }: Copies,
  copy: () => Promise<Result>,
): Promise<Result> {
  const place = places.take(account, { size: Math.min(bytes, shareMax) });
  if (typeof place === 'string')
    throw new UpstreamError(
      'unavailable',
      'The worker currently has no disk space for one of the request’s files.',
      {
        code: 'no_room',
      },
    );
  try {
    return await copy();
  } finally {
    place.leave();
  }
}

interface Copies {
  readonly places: Places;
  readonly shareMax: number;
}

/** Streams the file from this machine's disk, so that it is never entirely in memory. */
async function withBlob<Result>(
  { id, name, media }: UserFile,
  { openStored }: UploadsDeps,
  use: (blob: Blob) => Promise<Result>,
): Promise<Result> {
  const directory = await makeTemporaryDirectory('upload').catch(rethrow);
  try {
    const stored = await openStored(id, name).catch(rethrow);
    if (stored === undefined)
      throw new UpstreamError('unavailable', 'The file no longer exists.', { code: 'file_gone' });
    const path = join(directory, name);
    await pipeline(stored, createWriteStream(path)).catch(rethrow);
    return await use(await openAsBlob(path, { type: media.mediaType }));
  } finally {
    await removeTemporaryDirectory(directory);
  }
}

function rethrow(error: unknown): never {
  const cause = noRoomOr(error);
  if (cause instanceof NoRoomError)
    throw new UpstreamError('not_sent', 'The worker has no disk space for one of the request’s files.', {
      code: 'no_room',
      cause,
    });
  if (cause instanceof NotReadError)
    throw new UpstreamError('not_sent', 'The file storage is not responding.', {
      code: 'storage_away',
      cause,
    });
  throw error;
}
