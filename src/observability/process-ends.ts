import type { Logger } from './log.ts';

/** Reasons for ending a process at a terminal that no signal reports. */

const parentCheckMs = 250;

/**
 * Resolves at the first SIGINT or SIGTERM. After this call, neither signal ends the process directly. Without it, the
 * first process in a container would never learn during startup that it should end. While requests are in flight, npm
 * forwards the Ctrl-C that the terminal has already sent to all its processes.
 */
export function endSignalled(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve());
    process.on('SIGTERM', () => resolve());
  });
}

/**
 * Resolves when `parent` is no longer this process's parent. This detects the end of npm, which sends SIGTERM to the
 * shell that runs a script. The shell then ends without forwarding it.
 */
export function parentEnded(parent: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, parentCheckMs);
    timer.unref();
  });
}

/**
 * Resolves when nothing reads an output any more, as with `| head`. Later output is discarded. Any other output error
 * is thrown as usual.
 */
export function readerLeft(outputs: readonly NodeJS.WritableStream[]): Promise<void> {
  return new Promise((resolve) => {
    for (const output of outputs) {
      output.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE') throw error;
        resolve();
      });
    }
  });
}

/**
 * Logs unhandled rejections, so that a forgotten promise does not end the whole process. Each one is a bug. Returns a
 * function that stops the logging.
 */
export function logRejections(log: Logger): () => void {
  const onUnhandled = (err: unknown): void => log.error({ err }, 'a rejection was not handled');
  process.on('unhandledRejection', onUnhandled);
  return () => void process.off('unhandledRejection', onUnhandled);
}
