import type { MeasureVideos } from '../routing/measured-plan.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { MediaProbe } from './media-probe.ts';
import { probedBytesMax } from './media-probe.ts';
import { dataUrlSource } from './media-source.ts';
import type { MediaSource } from './media-source.ts';
import { openRemoteSource } from './remote-source.ts';

export interface MeasureVideosDeps {
  readonly probe: MediaProbe;
  /** Follows the rules for addresses that callers name. */
  readonly openMedia: GuardedClient['openMedia'];
  /** For all videos of a request, which are looked at side by side. 0: none is. */
  readonly timeoutMs: number;
  /** Of a video that was looked at before; undefined: it was not. */
  readonly known?: (url: string) => Promise<number | undefined>;
}

/** The lengths of videos, from their bytes. */
export function createMeasureVideos(deps: MeasureVideosDeps): MeasureVideos {
  const { probe, openMedia, timeoutMs } = deps;
  const open = (url: string, signal: AbortSignal): MediaSource | Promise<MediaSource> =>
    dataUrlSource(url) ?? openRemoteSource(url, { openMedia, bytesMax: probedBytesMax, timeoutMs, signal });
  const measure = async (url: string, account: string, signal: AbortSignal): Promise<number | undefined> => {
    try {
      const facts = await probe.probe(await open(url, signal), account, signal);
      return facts?.mediaType.startsWith('video/') === true ? facts.seconds : undefined;
    } catch {
      // What cannot be opened now may still be opened by the upstream.
      return undefined;
    }
  };
  return async (urls, { account }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    return Promise.all(
      urls.map(async (url) => {
        const known = await deps.known?.(url);
        return known ?? (timeoutMs === 0 ? undefined : measure(url, account, signal));
      }),
    );
  };
}
