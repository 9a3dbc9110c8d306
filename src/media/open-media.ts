import type { GuardedClient } from '../http-client/index.ts';
import type { InputMedia } from '../routing/measured-plan.ts';
import { createMeasureVideos, lengthOfFile } from './measure-videos.ts';
import { createMediaProbe } from './media-probe.ts';
import { defined } from '../base/defined.ts';
import type { KeptResults } from '../results/results.ts';
import { createLinkMedium, linkMedia, type LinkMedium } from './file-links.ts';
import { createFiles, type Files, type FilesDeps } from './files.ts';
import { createOpenOwnMedia } from './own-media.ts';

export interface RequestMedia extends Pick<GuardedClient, 'checkAddress' | 'openMedia'> {
  readonly input: Required<InputMedia>;
  readonly linkMedium: LinkMedium;
  readonly files?: Files;
  close(): Promise<void>;
}

export interface RequestMediaSettings {
  readonly client: Pick<GuardedClient, 'checkAddress' | 'openMedia'>;
  readonly probeMs: number;
  readonly kept?: Pick<KeptResults, 'storage' | 'links'>;
  readonly files: Omit<FilesDeps, 'storage' | 'probe' | 'openMedia'>;
}

export function openRequestMedia(settings: RequestMediaSettings): RequestMedia {
  const { client, probeMs, kept } = settings;
  const probe = createMediaProbe();
  const openMedia = createOpenOwnMedia(kept, client);
  const stored = kept && {
    files: createFiles({ ...settings.files, storage: kept.storage, probe, openMedia }),
    links: kept.links,
  };
  const linkMedium = createLinkMedium(stored);
  return {
    checkAddress: (url) => client.checkAddress(url),
    openMedia,
    input: {
      measureVideos: createMeasureVideos({
        probe,
        openMedia,
        timeoutMs: probeMs,
        ...defined({ known: kept && lengthOfFile(kept.links, settings.files.store) }),
      }),
      linkMedia: (request, caller) => linkMedia(request, caller, linkMedium),
    },
    linkMedium,
    ...defined({ files: stored?.files }),
    close: () => probe.close(),
  };
}
