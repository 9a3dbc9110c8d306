import { join } from 'node:path';
import type { UpkeepName } from '../base/upkeep-times.ts';
import type { IsOver, StepTime, Walked } from '../base/walk.ts';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { noMediaUrl, type KeepImages, type MediaUrl } from '../models/stored-media.ts';
import type { OpenLink, Outbound } from '../http-client/index.ts';
import { NoRoomError, NotReadError, type NotStoredError } from '../errors/not-stored.ts';
import type { Logger } from '../observability/log.ts';
import type { Channels } from '../routing/channels.ts';
import type { ResultCopyStore } from '../store/result-copies.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { FileStore } from '../store/files.ts';
import type { StorageRefusal } from '../routing/storage-room.ts';
import type { UpkeepFailureStore } from '../store/upkeep-failures.ts';
import type { StorageStep } from '../base/notice.ts';
import { createDirectoryStorage } from './directory-storage.ts';
import { deleteExpiredFiles, deleteFilesOf, type ExpiredFilesDeps } from './expired-files.ts';
import { withKnownRefusals } from './known-refusals.ts';
import { createKeepImages } from './keep-images.ts';
import { createMediaLinks, type MediaLinks } from './media-links.ts';
import { createOpenLinks, lookAtLink } from './open-links.ts';
import type { Deliver } from '../routing/delivery.ts';
import { createResultCopier, type ResultCopier } from './result-copier.ts';
import type { ResultStorage } from './storage.ts';
import { withTimeLimits } from './time-limits.ts';

export interface Results {
  readonly mediaUrl: MediaUrl;
  readonly kept?: KeptResults;
  readonly deliver: Deliver;
  readonly canOpen: (channel: string, url: string) => Promise<string | undefined>;
  readonly openLink: OpenLink;
  readonly openStored: (task: string, name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  readonly storageRefusal: StorageRefusal;
  close(): void;
}

export interface KeptResults {
  readonly storage: ResultStorage;
  readonly links: MediaLinks;
  readonly unreachableLinks?: string;
  readonly copier: ResultCopier;
  readonly keepImages: KeepImages;
  readonly removeFiles: (account: string, isOver: IsOver) => Promise<boolean>;
  readonly upkeep: readonly {
    readonly name: UpkeepName;
    readonly run: (time: StepTime) => Promise<number | Walked>;
  }[];
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
    readonly upkeepFailures: Pick<UpkeepFailureStore, 'note' | 'lastNote'>;
  };
  readonly key: Uint8Array;
  readonly log: Logger;
  readonly now: () => number;
}

const daySeconds = 86_400;

/**
 * A reload cannot move files, so the storage under `results:` in gateway.yaml stays the same until the process exits.
 */
export async function openResults(deps: ResultsDeps): Promise<Results> {
  const { config, channels, environment, log, now } = deps;
  const opened = await openStorage(config, environment);
  const storage = opened && withKnownRefusals(withTimeLimits(opened), openFailureNotes(deps));
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
  warnOfStorage(storage, log);
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
      ...fileUpkeep(copier, storage, { store: deps.stores.files, storage, log, now }),
    },
    close: () => storage.close(),
  };
}

function openers(
  openLink: OpenLink,
  { storage, maxBytes }: { readonly storage: ResultStorage | undefined; readonly maxBytes: number },
): Pick<Results, 'canOpen' | 'openLink' | 'openStored' | 'storageRefusal'> {
  return {
    canOpen: async (channel, url) => (await lookAtLink(openLink, { channel, url, maxBytes }))?.message,
    openLink,
    storageRefusal: async () => storage?.refusal(),
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

function warnOfLinks(address: Address, log: Logger): Pick<KeptResults, 'unreachableLinks'> {
  if (address.PUBLIC_URL !== undefined) return {};
  const unreachableLinks = `PUBLIC_URL is not set, so links to results and files lead to ${publicUrlOf(address)}, which callers and upstreams on other machines cannot open. Set it to the URL under which they reach this gateway.`;
  log.warn({}, unreachableLinks);
  return { unreachableLinks };
}

function warnOfStorage(storage: ResultStorage, log: Logger): void {
  storage.problem().then(
    (problem) => problem !== undefined && log.warn({}, problem),
    (err: unknown) => log.warn({ err }, 'the storage for results does not respond'),
  );
}

const storageStep = 'storage';
const fullStep: StorageStep = 'storage_full';
const awayStep: StorageStep = 'storage_away';
const failureLoggedMs = 60_000;

function openFailureNotes({ stores, log, now }: Pick<ResultsDeps, 'stores' | 'log' | 'now'>) {
  const loggedAt = new Map<unknown, number>();
  return {
    async note(err: NotStoredError | NotReadError): Promise<void> {
      const step = err instanceof NoRoomError ? fullStep : awayStep;
      if (now() - (loggedAt.get(err.constructor) ?? -Infinity) >= failureLoggedMs) {
        loggedAt.set(err.constructor, now());
        const what = err instanceof NotReadError ? 'read' : 'stored';
        log.error({ step, err }, `results and files cannot be ${what}: ${err.detail ?? ''}`);
      }
      await stores.upkeepFailures
        .note({ step, count: 1 })
        .catch((failed: unknown) =>
          log.error({ err: failed }, 'a failure of the storage could not be recorded'),
        );
    },
    lastFull: () => stores.upkeepFailures.lastNote(fullStep),
    now,
  };
}

function fileUpkeep(
  copier: ResultCopier,
  storage: ResultStorage,
  files: ExpiredFilesDeps,
): Pick<KeptResults, 'upkeep' | 'removeFiles'> {
  const { log } = files;
  const sweep = async (isOver: IsOver): Promise<number | Walked> =>
    storage.sweep?.((file, err) => log.error({ err }, `${file} could not be deleted`), isOver) ?? 0;
  const lookAtStorage = async (): Promise<Walked> => {
    const problem = await storage.problem();
    if (problem === undefined) return { done: 0, failed: 0 };
    log.error({ step: storageStep }, problem);
    return { done: 0, failed: 1 };
  };
  return {
    removeFiles: (account, isOver) => deleteFilesOf(account, isOver, files),
    upkeep: [
      { name: 'retention', run: ({ isOver }) => copier.deleteExpired(isOver) },
      { name: 'files', run: ({ isOver }) => deleteExpiredFiles(files, isOver) },
      { name: 'parts', run: ({ isOver }) => sweep(isOver) },
      { name: storageStep, run: lookAtStorage },
      { name: 'copies', run: ({ isOver }) => copier.retryDue(isOver) },
    ],
  };
}

export async function openStorage(
  { storage, directory, s3, free_bytes: freeBytesMin }: GatewayConfig['results'],
  { DATA_DIR }: Environment,
): Promise<ResultStorage | undefined> {
  switch (storage) {
    case 'none':
      return undefined;
    case 'directory':
      return createDirectoryStorage(join(DATA_DIR, directory), { freeBytesMin });
    case 's3': {
      if (s3 === undefined) throw new TypeError('results.s3 is required with storage: s3');
      // Imported only here, because the library is large and most processes do not need it.
      const { createS3Storage } = await import('./s3-storage.ts');
      return createS3Storage(s3);
    }
    default:
      return storage satisfies never;
  }
}
