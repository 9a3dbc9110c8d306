import { extname } from 'node:path';
import { cpuUsage } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';

/** Threads that process untrusted input, which can exhaust only its own thread's time or memory. */

export interface Thread {
  readonly worker: Worker;
  /** Resolves with the thread's first message. By then its code is loaded, and its CPU time starts to count. */
  readonly ready: Promise<unknown>;
}

/** `file` is the thread's code in the folder of `importer`, without the file extension. */
export function startThread(importer: string, file: string, resourceLimits: ResourceLimits): Thread {
  const entry = new URL(`./${file}${extname(fileURLToPath(importer))}`, importer);
  const worker = new Worker(entry, {
    execArgv: ['--import', new URL('../typescript.js', import.meta.url).href],
    // The thread must not see the process's secrets.
    env: {},
    resourceLimits,
    stdout: true,
    stderr: true,
  });
  // Parsers quote their input, so the thread's output must stay out of the log.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  // A waiting caller has its own listener. Without this one, an idle thread's failure would end the process.
  worker.on('error', () => undefined);
  const ready = new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
  return { worker, ready };
}

/**
 * Estimates the thread's CPU milliseconds since this call. On a busy machine, the thread's active time is too high, so
 * the process's CPU time caps it.
 */
export function startThreadClock(worker: Worker): () => number {
  const turns = worker.performance.eventLoopUtilization();
  const used = cpuUsage();
  return () => {
    const { user, system } = cpuUsage(used);
    return Math.min(worker.performance.eventLoopUtilization(turns).active, (user + system) / 1000);
  };
}
