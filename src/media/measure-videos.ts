import type { MeasureVideos, VideoLength } from '../routing/measured-plan.ts';
import { GuardedRequestError, type GuardedClient } from '../http-client/index.ts';
import { probedBytesMax, type MediaProbe } from './media-probe.ts';
import { dataUrlSource, type MediaSource } from './media-source.ts';
import type { MediaLinks } from '../results/media-links.ts';
import type { FileStore } from '../store/files.ts';
import { openRemoteSource } from './remote-source.ts';
import { timeLimit } from '../process/running-time.ts';

type KnownLength = (url: string) => Promise<number | undefined>;

export interface MeasureVideosDeps {
  readonly probe: Pick<MediaProbe, 'probe'>;
  readonly openMedia: GuardedClient['openMedia'];
  /** The time for all videos of a request, which are measured in parallel. 0 disables measuring. */
  readonly timeoutMs: number;
  readonly known?: KnownLength;
}

export function lengthOfFile(links: Pick<MediaLinks, 'read'>, files: Pick<FileStore, 'find'>): KnownLength {
  return async (url) => {
    const link = links.read(url);
    return link && (await files.find(link.task))?.media.seconds;
  };
}

export function createMeasureVideos(deps: MeasureVideosDeps): MeasureVideos {
  const { probe, openMedia, timeoutMs } = deps;
  const open = (url: string, signal: AbortSignal): MediaSource | Promise<MediaSource> =>
    dataUrlSource(url) ?? openRemoteSource(url, { openMedia, bytesMax: probedBytesMax, timeoutMs, signal });
  const measure = async (url: string, account: string, signal: AbortSignal): Promise<VideoLength> => {
    try {
      const source = await open(url, signal);
      let failed: { readonly error: unknown } | undefined;
      const read: MediaSource['read'] = (start, end) =>
        source.read(start, end).catch((error: unknown) => {
          failed = { error };
          throw error;
        });
      const facts = await probe.probe({ bytes: source.bytes, read }, account, signal);
      if (facts?.mediaType.startsWith('video/') === true && facts.seconds !== undefined) return facts.seconds;
      if (failed !== undefined) throw failed.error;
      return signal.aborted ? undefined : 'unreadable';
    } catch (error) {
      return isRefusal(error) ? 'unreadable' : undefined;
    }
  };
  return async (urls, { account }) => {
    const signal = timeLimit(timeoutMs);
    return Promise.all(
      urls.map(async (url) => {
        const known = await deps.known?.(url);
        return known ?? (timeoutMs === 0 ? undefined : measure(url, account, signal));
      }),
    );
  };
}

const temporaryStatuses = new Set([408, 425, 429]);

function isRefusal(error: unknown): boolean {
  if (!(error instanceof GuardedRequestError)) return false;
  const { code, status = 0 } = error;
  if (code === 'bad_status') return status >= 400 && status < 500 && !temporaryStatuses.has(status);
  return code === 'answer_too_large' || code === 'encoded_answer' || code === 'too_many_redirects';
}
