import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createImageGate } from '../capacity/image-gate.ts';
import type { Core } from './core.ts';
import { defined } from '../base/defined.ts';
import type { ImageRouteDeps } from '../http/deps.ts';
import type { FileRouteDeps } from '../http/files/own-file.ts';
import { createImageService, type CreateImagesDeps } from '../images/create-images.ts';
import type { GenerateDeps } from '../images/generate.ts';
import { createFetchedImages, fetchedBytesMax } from '../images/fetched-images.ts';
import { createCloseHold } from '../images/leases/close-hold.ts';
import { createImageLeases, type ImageLeases } from '../images/leases/image-leases.ts';
import { createPromisedBills, type PromisedBills } from '../images/promised-bills.ts';
import { createResultForms } from '../images/result-form.ts';
import { createTracedGenerate } from '../images/traced-generate.ts';
import { openImageWorkspaces, type ImageWorkspaces } from '../images/workspace.ts';
import { linkImages } from '../media/file-links.ts';
import { openRequestMedia, type RequestMedia } from '../media/open-media.ts';
import { vendorImageFields } from '../providers/index.ts';

function openImageLeases({ stores, ledger, log, now }: Core): ImageLeases {
  const leases = stores.imageLeases;
  return createImageLeases({
    leases,
    closeHold: createCloseHold({ leases, ledger }),
    process: `${hostname()}/${process.pid}`,
    now,
    randomBytes,
    onError: (err) => log.warn({ err }, 'an image lease could not be saved'),
  });
}

export interface ImageParts {
  readonly media: RequestMedia;
  readonly workspaces: ImageWorkspaces;
  readonly imageLeases: ImageLeases;
  readonly bills: PromisedBills;
}

export async function openImageParts(core: Core): Promise<ImageParts> {
  return {
    media: openMedia(core),
    workspaces: await openImageWorkspaces(core.now),
    imageLeases: openImageLeases(core),
    bills: createPromisedBills(core.log),
  };
}

export function imageDeps(
  core: Core,
  { media, workspaces, imageLeases, bills }: ImageParts,
  shared: Pick<CreateImagesDeps, 'catalogue' | 'repeats'> & Pick<GenerateDeps, 'holdTerms'>,
): ImageRouteDeps {
  const { environment, ledger, channels, health, log } = core;
  const { catalogue, repeats, holdTerms } = shared;
  const limits = {
    bodyBytesMax: environment.IMAGE_BODY_BYTES_MAX,
    filesMax: environment.IMAGE_FILES_MAX,
    pixelsMax: environment.IMAGE_PIXELS_MAX,
  };
  const onError = (err: unknown) =>
    log.warn({ err }, 'a slot could not be released; it becomes free when its lease expires');
  const gate = createImageGate({ ...health, onError });
  const countMargin: GenerateDeps['countMargin'] = (...ended) => core.metrics.countMargin(...ended);
  const { openLink, openStored, kept } = core.results;
  const forms = createResultForms({
    openLink,
    openStored,
    ...defined({ keepImages: kept?.keepImages }),
  });
  const create = createImageService({
    catalogue,
    channels,
    generate: createTracedGenerate(
      { channels, ledger, imageLeases, holdTerms, log, gate, countMargin, bills, charges: core.charges },
      core.tracing?.tasks,
    ),
    repeats,
    workspaces,
    fetchedImages: createFetchedImages(fetchedBytesMax(environment)),
    openMedia: (fetch) => media.openMedia(fetch),
    forms,
    storageRefusal: core.results.storageRefusal,
    linkMedia: (request, caller) => linkImages(request, caller, media.linkMedium),
    pixelsMax: limits.pixelsMax,
    newImage: () => imageLeases.newImage(),
  });
  return {
    create,
    limits,
    workspaces,
    asData: forms.asData,
    streamData: forms.streamData,
    vendorFields: vendorImageFields,
  };
}

const daySeconds = 86_400;

function openMedia({ environment, config, outbound, results, stores, now }: Core): RequestMedia {
  const {
    account_bytes: accountBytesMax,
    max_bytes: bytesMax,
    retention_days: days,
  } = config().results.files;
  return openRequestMedia({
    client: outbound.media,
    probeMs: environment.MEDIA_PROBE_MS,
    files: {
      store: stores.files,
      bytesMax,
      accountBytesMax,
      retentionSeconds: days * daySeconds,
      now,
      randomBytes,
    },
    ...defined({ kept: results.kept }),
  });
}

export function fileDeps(
  { results }: Core,
  { media, workspaces }: Pick<ImageParts, 'media' | 'workspaces'>,
): FileRouteDeps | undefined {
  const { files, linkMedium } = media;
  if (files === undefined || results.kept === undefined) return undefined;
  return { files, linkMedium, storage: results.kept.storage, workspaces };
}
