import type { Logger } from './log.ts';

const parentCheckMs = 250;

/**
 * Resolves at the first SIGINT or SIGTERM. From then on, neither signal terminates the process. Ctrl-C can arrive
 * twice, because the terminal signals all processes and npm forwards its own signal. Call this early, because the first
 * process in a container ignores signals that have no listener.
 */
export function endSignalled(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve());
    process.on('SIGTERM', () => resolve());
  });
}

/**
 * Resolves when this process gets a new parent. If npm is stopped, it sends SIGTERM only to the shell that runs the
 * script, and the shell exits without forwarding the signal.
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

/** Resolves when the reader of an output has closed it, as `| head` does. Throws any other output error. */
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
 * Logs unhandled rejections. A forgotten promise is a bug, but must not crash the process. The returned function stops
 * the logging.
 */
export function logRejections(log: Logger): () => void {
  const onUnhandled = (err: unknown): void => log.error({ err }, 'a rejection was not handled');
  process.on('unhandledRejection', onUnhandled);
  return () => void process.off('unhandledRejection', onUnhandled);
}
