import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { defined } from '../base/defined.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import { limitedSource } from './media-source.ts';
import type { MediaSource } from './media-source.ts';
import type { FromThread, ToThread } from './probe-messages.ts';

/** Finds out what media are, from their bytes, in threads that end when one does not answer. */
export interface MediaProbe {
  /** Undefined: it could not be found out, or not before `signal`. Never rejects. */
  probe(source: MediaSource, signal: AbortSignal): Promise<MediaFacts | undefined>;
  close(): Promise<void>;
}

/** All that is read of one medium. */
export const probedBytesMax = 8 * 1024 * 1024;
const threadsMax = 4;
/** A medium that needs more ends its thread. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
/** A thread without work goes: it holds some ten megabytes. */
const idleMs = 60_000;

interface Thread {
  readonly worker: Worker;
  idle?: NodeJS.Timeout;
}

/** The first thread starts with the first medium. */
export function createMediaProbe(): MediaProbe {
  const threads = new Set<Thread>();
  const free: Thread[] = [];
  const waiting: (() => void)[] = [];

  const forget = (thread: Thread): void => {
    clearTimeout(thread.idle);
    threads.delete(thread);
    const at = free.indexOf(thread);
    if (at >= 0) free.splice(at, 1);
  };

  const end = async (thread: Thread): Promise<void> => {
    forget(thread);
    await thread.worker.terminate();
  };

  const start = (): Thread => {
    const thread: Thread = { worker: startWorker() };
    threads.add(thread);
    thread.worker.once('exit', () => forget(thread));
    return thread;
  };

  const take = async (signal: AbortSignal): Promise<Thread | undefined> => {
    while (free.length === 0 && threads.size >= threadsMax && !signal.aborted) await turn(waiting, signal);
    if (signal.aborted) return undefined;
    const thread = free.pop() ?? start();
    clearTimeout(thread.idle);
    return thread;
  };

  return {
    async probe(source, signal) {
      const thread = await take(signal);
      if (thread === undefined) return undefined;
      const answer = await ask(thread.worker, limitedSource(source, probedBytesMax), signal);
      if (answer === 'none') {
        await end(thread);
      } else {
        free.push(thread);
        thread.idle = setTimeout(() => void end(thread), idleMs).unref();
      }
      waiting.shift()?.();
      return answer === 'none' ? undefined : answer.facts;
    },
    async close() {
      await Promise.all([...threads].map(end));
    },
  };
}

function startWorker(): Worker {
  const entry = new URL(`./probe-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
  const worker = new Worker(entry, {
    execArgv: ['--import', new URL('../typescript.js', import.meta.url).href],
    // No secret of the process reaches it.
    env: {},
    resourceLimits,
    stdout: true,
    stderr: true,
  });
  // Parsers quote the file: its words stay out of the log.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  // Whoever waits for it listens, too; an idle thread may fail without ending the process.
  worker.on('error', () => undefined);
  return worker;
}

/** Until there may be a thread, or nobody waits for it any more. */
function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      signal.removeEventListener('abort', go);
      const at = waiting.indexOf(go);
      if (at >= 0) waiting.splice(at, 1);
      resolve();
    };
    waiting.push(go);
    signal.addEventListener('abort', go, { once: true });
  });
}

/** `none`: the thread has ended, or has not answered in time. */
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
      resolve(answer);
    };
    const giveUp = (): void => stop('none');
    const hear = (message: FromThread): void => {
      if (message.kind === 'done') return stop(message);
      const { read, start, end } = message;
      source.read(start, end).then(
        (data) => post({ kind: 'data', read, ...defined({ data }) }),
        () => post({ kind: 'data', read }),
      );
    };
    worker.on('message', hear).on('error', giveUp).on('exit', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    else post({ kind: 'probe', bytes: source.bytes });
  });
}
