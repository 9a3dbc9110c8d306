import { measureTimes } from '../base/activity-times.ts';
import { defined } from '../base/defined.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import type { OpenLink } from '../http-client/index.ts';
import type { MeasureResult } from '../routing/measured-facts.ts';
import type { ResultStorage } from '../results/storage.ts';
import { probedBytesMax, type MediaProbe } from './media-probe.ts';
import type { MediaSource } from './media-source.ts';
import { openRemoteSource, readAll } from './remote-source.ts';
import { timeLimit } from '../process/running-time.ts';

export interface MeasureResultDeps {
  readonly probe: MediaProbe;
  readonly openLink: OpenLink;
  readonly storage?: Pick<ResultStorage, 'stat' | 'read'>;
}

const timeoutMs = measureTimes.resultMs;

export function createMeasureResult({ probe, openLink, storage }: MeasureResultDeps): MeasureResult {
  return async ({ task, account, item, channel, headersFor }): Promise<MediaFacts | undefined> => {
    const signal = timeLimit(timeoutMs);
    try {
      const measured = open().then((source) => source && probe.probe(source, account, signal));
      return await Promise.race([measured, aborted(signal)]);
    } catch {
      // The charge is then based on the upstream's report or on the smallest possible quantity.
      return undefined;
    }

    async function open(): Promise<MediaSource | undefined> {
      const { stored, url } = item;
      if (stored !== undefined && storage !== undefined)
        return openStoredSource(`${task}/${stored.name}`, storage);
      if (url === undefined) return undefined;
      const headers = headersFor(url);
      const openMedia: Parameters<typeof openRemoteSource>[1]['openMedia'] = (fetch) =>
        openLink(channel, { ...fetch, ...defined({ headers }) });
      return openRemoteSource(url, { openMedia, bytesMax: probedBytesMax, timeoutMs, signal });
    }
  };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

async function openStoredSource(
  key: string,
  storage: Pick<ResultStorage, 'stat' | 'read'>,
): Promise<MediaSource | undefined> {
  const file = await storage.stat(key);
  if (file === undefined || file.bytes === 0) return undefined;
  return {
    bytes: file.bytes,
    async read(start, end) {
      const last = Math.min(end, file.bytes) - 1;
      if (last < start) return new Uint8Array();
      return readAll(await storage.read(key, { start, end: last }));
    },
  };
}
