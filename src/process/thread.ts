import { extname } from 'node:path';
import { cpuUsage } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';

/** Threads that process untrusted input. Such work can exhaust the time or memory of its own thread only. */

export interface Thread {
  readonly worker: Worker;
  /** Resolves with the thread's first message. It has then loaded its code, and its CPU time starts to count. */
  readonly ready: Promise<unknown>;
}

/** `file` is the thread's code in the folder of `importer`, without the file extension. */
export function startThread(importer: string, file: string, resourceLimits: ResourceLimits): Thread {
  const entry = new URL(`./${file}${extname(fileURLToPath(importer))}`, importer);
  const worker = new Worker(entry, {
    execArgv: ['--import', new URL('../typescript.js', import.meta.url).href],
    // The thread must not see the secrets of the process.
    env: {},
    resourceLimits,
    stdout: true,
    stderr: true,
  });
  // Parsers quote their input, so the thread's output must stay out of the log.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  // A caller that waits has its own listener. Without this one, the failure of an idle thread would end the process.
  worker.on('error', () => undefined);
  const ready = new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
  return { worker, ready };
}

/**
 * Estimates the CPU milliseconds that the thread has used since this call. On a busy machine the thread's active time
 * is too high, so the CPU time of the process caps it.
 */
export function startThreadClock(worker: Worker): () => number {
  const turns = worker.performance.eventLoopUtilization();
  const used = cpuUsage();
  return () => {
    const { user, system } = cpuUsage(used);
    return Math.min(worker.performance.eventLoopUtilization(turns).active, (user + system) / 1000);
  };
}
