import type { Logger } from './log.ts';

/** What a process that talks to a terminal should end for, and no signal reports it. */

const parentCheckMs = 250;

/**
 * Resolves at the first SIGINT or SIGTERM. From the call on, neither ends this process: not during its start, where the
 * first process of a container would otherwise never learn that it was to end, and not while it waits for what is in
 * flight (npm passes on the Ctrl-C that the terminal has already sent to all of its processes).
 */
export function endSignalled(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve());
    process.on('SIGTERM', () => resolve());
  });
}

/**
 * Resolves when the process `parent` is no longer the one that started this one. It is how an end of npm reaches us:
 * npm passes SIGTERM to the shell that it runs a script in, and the shell ends without passing it on.
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
 * Resolves when an output has lost its reader, as with `| head`; what is written from then on is discarded. Any other
 * error of an output is thrown, as it would be without this.
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
 * A promise that somebody forgot must not end the work of all others; it is a bug, and logged as one. Returns what ends
 * that.
 */
export function logRejections(log: Logger): () => void {
  const onUnhandled = (err: unknown): void => log.error({ err }, 'a rejection was not handled');
  process.on('unhandledRejection', onUnhandled);
  return () => void process.off('unhandledRejection', onUnhandled);
}
