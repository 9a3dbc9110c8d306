import { extname } from 'node:path';
import { cpuUsage } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';

/** Threads for work on what others wrote: it may use up its thread's time or memory, and nobody else's. */

export interface Thread {
  readonly worker: Worker;
  /** Resolves with the thread's first message: it has loaded its code, and from then on its CPU time counts. */
  readonly ready: Promise<unknown>;
}

/** `file`: the thread's code beside `importer`, without its ending. */
export function startThread(importer: string, file: string, resourceLimits: ResourceLimits): Thread {
  const entry = new URL(`./${file}${extname(fileURLToPath(importer))}`, importer);
  const worker = new Worker(entry, {
    execArgv: ['--import', new URL('../typescript.js', import.meta.url).href],
    // No secret of the process reaches it.
    env: {},
    resourceLimits,
    stdout: true,
    stderr: true,
  });
  // Parsers quote what they read: its words stay out of the log.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  // Whoever waits for it listens, too; an idle thread may fail without ending the process.
  worker.on('error', () => undefined);
  const ready = new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
  return { worker, ready };
}

/**
 * Estimates the CPU milliseconds that the thread has used since. On a busy machine its active time is too high, so process
 * CPU time caps it.
 */
export function startThreadClock(worker: Worker): () => number {
  const turns = worker.performance.eventLoopUtilization();
  const used = cpuUsage();
  return () => {
    const { user, system } = cpuUsage(used);
    return Math.min(worker.performance.eventLoopUtilization(turns).active, (user + system) / 1000);
  };
}
