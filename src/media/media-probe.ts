import type { Worker } from 'node:worker_threads';
import { createPlaces } from '../base/places.ts';
import { defined } from '../base/defined.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import { startThread, startThreadClock, type Thread } from '../process/thread.ts';
import { limitedSource, type MediaSource } from './media-source.ts';
import type { FromThread, ToThread } from './probe-messages.ts';

export interface MediaProbe {
  /**
   * Returns undefined if the file cannot be read at all, or not before `signal` aborts. Never rejects. `account` is the
   * file's owner, because accounts share the threads fairly.
   */
  probe(source: MediaSource, account: string, signal: AbortSignal): Promise<MediaFacts | undefined>;
  close(): Promise<void>;
}

export const probedBytesMax = 8 * 1024 * 1024;
const threadsMax = { name: 'media threads', placesMax: 4, shareMax: 2, reserve: 1 } as const;
const workingMsMax = 5_000;
const workingLookMs = 100;
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
/** An idle thread uses about ten megabytes, so it is terminated after this time. */
const idleMs = 60_000;

interface ProbeThread extends Thread {
  idle?: NodeJS.Timeout;
}

export function createMediaProbe(): MediaProbe {
  const places = createPlaces(threadsMax);
  const threads = new Set<ProbeThread>();
  const free: ProbeThread[] = [];

  const forget = (thread: ProbeThread): void => {
    clearTimeout(thread.idle);
    threads.delete(thread);
    const at = free.indexOf(thread);
    if (at >= 0) free.splice(at, 1);
  };

  const end = async (thread: ProbeThread): Promise<void> => {
    forget(thread);
    await thread.worker.terminate();
  };

  const start = (): ProbeThread => {
    const thread: ProbeThread = startThread(import.meta.url, 'probe-thread', resourceLimits);
    threads.add(thread);
    thread.worker.once('exit', () => forget(thread));
    return thread;
  };

  const probeInThread = async (source: MediaSource, signal: AbortSignal): Promise<MediaFacts | undefined> => {
    const thread = free.pop() ?? start();
    clearTimeout(thread.idle);
    await thread.ready;
    const answer = await ask(thread.worker, limitedSource(source, probedBytesMax), signal);
    if (answer === 'none') {
      await end(thread);
      return undefined;
    }
    free.push(thread);
    thread.idle = setTimeout(() => void end(thread), idleMs).unref();
    return answer.facts;
  };

  return {
    probe: (source, account, signal) => places.run(account, () => probeInThread(source, signal), signal),
    async close() {
      await Promise.all([...threads].map(end));
    },
  };
}

/** `none` means that the thread exited, used too much CPU time, or did not respond in time. */
function ask(
  worker: Worker,
  source: MediaSource,
  signal: AbortSignal,
): Promise<{ readonly facts?: MediaFacts } | 'none'> {
  const post = (message: ToThread): void => worker.postMessage(message);
  return new Promise((resolve) => {
    const stop = (answer: { readonly facts?: MediaFacts } | 'none'): void => {
      worker.off('message', hear).off('error', giveUp).off('exit', giveUp);
      signal.removeEventListener('abort', giveUp);
      clearInterval(watch);
      resolve(answer);
    };
    const giveUp = (): void => stop('none');
    const hear = (message: FromThread): void => {
      if (message.kind === 'done') return stop(message);
      if (message.kind === 'ready') return;
      const { read, start, end } = message;
      source.read(start, end).then(
        (data) => post({ kind: 'data', read, ...defined({ data }) }),
        () => post({ kind: 'data', read }),
      );
    };
    const workedMs = startThreadClock(worker);
    const watch = setInterval(() => {
      if (workedMs() > workingMsMax) giveUp();
    }, workingLookMs);
    worker.on('message', hear).on('error', giveUp).on('exit', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    else post({ kind: 'probe', bytes: source.bytes });
  });
}
