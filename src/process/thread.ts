import { extname } from 'node:path';
import { cpuUsage } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker, type ResourceLimits } from 'node:worker_threads';

export interface Thread {
  readonly worker: Worker;
  /**
   * Resolves to the thread's first message, which is sent once its code has been loaded. CPU time is counted from then
   * on.
   */
  readonly ready: Promise<unknown>;
}

/**
 * Starts a thread for untrusted input, which can exhaust only this thread's time and memory. `file` is the name of a
 * code file next to `importer`, without the extension.
 */
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
  // Parsers quote their input in errors, so keep the thread's output out of the log.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  // Without this listener, an error in an idle thread would end the process. A waiting caller has its own listener.
  worker.on('error', () => undefined);
  const ready = new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
  return { worker, ready };
}

/**
 * The returned function estimates the CPU time that the thread has used since this call, in milliseconds. On a busy
 * machine, the thread's active time is too high, so it is capped at the process's CPU time.
 */
export function startThreadClock(worker: Worker): () => number {
  const turns = worker.performance.eventLoopUtilization();
  const used = cpuUsage();
  return () => {
    const { user, system } = cpuUsage(used);
    return Math.min(worker.performance.eventLoopUtilization(turns).active, (user + system) / 1000);
  };
}
