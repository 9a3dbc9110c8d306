import { join } from 'node:path';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { noMediaUrl } from '../models/stored-media.ts';
import type { KeepImages, MediaUrl } from '../models/stored-media.ts';
import type { OpenLink, Outbound } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import type { Channels } from '../routing/channels.ts';
import type { ResultCopyStore } from '../store/result-copies.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { FileStore } from '../store/files.ts';
import { createDirectoryStorage } from './directory-storage.ts';
import { deleteExpiredFiles, deleteFilesOf } from './expired-files.ts';
import type { ExpiredFilesDeps } from './expired-files.ts';
import { createKeepImages } from './keep-images.ts';
import { createMediaLinks } from './media-links.ts';
import type { MediaLinks } from './media-links.ts';
import { createOpenLinks, lookAtLink } from './open-links.ts';
import type { Deliver } from '../routing/delivery.ts';
import { createResultCopier } from './result-copier.ts';
import type { ResultCopier } from './result-copier.ts';
import type { ResultStorage } from './storage.ts';

export interface Results {
  readonly mediaUrl: MediaUrl;
  /** Absent: results are not copied, callers get the upstream's links. */
  readonly kept?: KeptResults;
  readonly deliver: Deliver;
  /** Returns why the channel's link does not lead to a file, or undefined if it does. */
  readonly canOpen: (channel: string, url: string) => Promise<string | undefined>;
  readonly openLink: OpenLink;
  /** A stored file of a task; undefined: it is gone, or none are kept. */
  readonly openStored: (task: string, name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  close(): void;
}

export interface KeptResults {
  readonly storage: ResultStorage;
  readonly links: MediaLinks;
  /** Why the links lead nowhere; absent: they do not. */
  readonly unreachableLinks?: string;
  readonly copier: ResultCopier;
  readonly keepImages: KeepImages;
  /** As `deleteFilesOf`. */
  readonly removeFiles: (account: string, endsAt: number) => Promise<boolean>;
  /** What the reconciler does for all that is stored. */
  readonly upkeep: readonly { readonly name: string; readonly run: () => Promise<number> }[];
}

export interface ResultsDeps {
  readonly config: GatewayConfig['results'];
  readonly channels: Channels;
  readonly outbound: Pick<Outbound, 'linksOf'>;
  readonly environment: Environment;
  readonly stores: {
    readonly tasks: TaskStore;
    readonly resultCopies: ResultCopyStore;
    readonly files: FileStore;
  };
  readonly key: Uint8Array;
  readonly log: Logger;
  readonly now: () => number;
}

const daySeconds = 86_400;

/** Opens the storage that `results:` of gateway.yaml names. Fixed until the process ends: a reload does not move files. */
export async function openResults(deps: ResultsDeps): Promise<Results> {
  const { config, channels, environment, log, now } = deps;
  const storage = await openStorage(config, environment);
  const openLink: OpenLink = (channel, fetch) =>
    deps.outbound.linksOf(channels(channel)?.config).openMedia(fetch);
  const { max_bytes: maxBytes } = config;
  const open = openers(openLink, { storage, maxBytes });
  if (storage === undefined)
    return {
      ...open,
      mediaUrl: noMediaUrl,
      deliver: createOpenLinks(openLink, { maxBytes }),
      close: () => undefined,
    };
  const retentionSeconds = config.retention_days * daySeconds;
  const links = createMediaLinks({
    key: deps.key,
    publicUrl: publicUrlOf(environment),
    ttlSeconds: config.url_ttl_seconds,
    retentionSeconds,
    now,
  });
  const copier = createResultCopier({
    storage,
    copies: deps.stores.resultCopies,
    tasks: deps.stores.tasks,
    channels,
    openLink,
    maxBytes,
    retentionSeconds,
    log,
    now,
  });
  return {
    ...open,
    mediaUrl: links.url,
    deliver: copier.deliver,
    kept: {
      storage,
      links,
      ...warnOfLinks(environment, log),
      copier,
      keepImages: createKeepImages({
        storage,
        links,
        copies: deps.stores.resultCopies,
        retentionSeconds,
        now,
      }),
      ...fileUpkeep(copier, { store: deps.stores.files, storage, log, now }),
    },
    close: () => storage.close(),
  };
}

/** Opens what others and our own storage hold. */
function openers(
  openLink: OpenLink,
  { storage, maxBytes }: { readonly storage: ResultStorage | undefined; readonly maxBytes: number },
): Pick<Results, 'canOpen' | 'openLink' | 'openStored'> {
  return {
    canOpen: async (channel, url) => (await lookAtLink(openLink, { channel, url, maxBytes }))?.message,
    openLink,
    async openStored(task, name) {
      const file = await storage?.stat(`${task}/${name}`);
      return file === undefined
        ? undefined
        : storage?.read(`${task}/${name}`, { start: 0, end: file.bytes - 1 });
    },
  };
}

type Address = Pick<Environment, 'PUBLIC_URL' | 'HOST' | 'PORT'>;

function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Address): string {
  return PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
}

/** Without PUBLIC_URL. */
function warnOfLinks(address: Address, log: Logger): Pick<KeptResults, 'unreachableLinks'> {
  if (address.PUBLIC_URL !== undefined) return {};
  const unreachableLinks = `PUBLIC_URL is not set: links to results and files lead to ${publicUrlOf(address)}, which callers and upstreams elsewhere cannot open. Set it to the address under which they reach this gateway.`;
  log.warn({}, unreachableLinks);
  return { unreachableLinks };
}

function fileUpkeep(
  copier: ResultCopier,
  files: ExpiredFilesDeps,
): Pick<KeptResults, 'upkeep' | 'removeFiles'> {
  return {
    removeFiles: (account, endsAt) => deleteFilesOf(account, endsAt, files),
    upkeep: [
      { name: 'copies', run: () => copier.retryDue() },
      { name: 'retention', run: () => copier.deleteExpired() },
      { name: 'files', run: () => deleteExpiredFiles(files) },
    ],
  };
}

async function openStorage(
  { storage, directory, s3 }: GatewayConfig['results'],
  { DATA_DIR }: Environment,
): Promise<ResultStorage | undefined> {
  switch (storage) {
    case 'none':
      return undefined;
    case 'directory':
      return createDirectoryStorage(join(DATA_DIR, directory));
    case 's3': {
      if (s3 === undefined) throw new TypeError('results.s3 is required with storage: s3');
      // The library is large, and most processes never need it.
      const { createS3Storage } = await import('./s3-storage.ts');
      return createS3Storage(s3);
    }
    default:
      return storage satisfies never;
  }
}
