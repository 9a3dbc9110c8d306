/**
 * These time limits exclude the time for which this process is suspended. When a suspended machine resumes, all
 * ordinary timers fire at once, before the process has read what others have sent.
 */

/** A time limit is split into ten ticks, or into fewer if they would be shorter than this. */
const partMsMin = 500;
/**
 * A tick delayed by more than this suggests that the process was suspended, so the tick does not count. If the next one
 * is late as well, the process is overloaded rather than suspended, and that tick counts.
 */
const lateMs = 500;

/**
 * Calls `expire` after this process has run for `ms`. The returned function cancels the call. The timer does not keep
 * the process alive.
 */
export function afterRunning(ms: number, expire: () => void): () => void {
  const partMs = Math.max(partMsMin, ms / 10);
  let leftMs = ms;
  let wasLate = false;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    const nextMs = Math.min(leftMs, partMs);
    const begunAt = performance.now();
    timer = setTimeout(() => {
      const isLate = performance.now() - begunAt > nextMs + lateMs;
      if (!isLate || wasLate) leftMs -= nextMs;
      wasLate = isLate;
      if (leftMs > 0) wait();
      else expire();
    }, nextMs).unref();
  };
  wait();
  return () => clearTimeout(timer);
}

/** Like `AbortSignal.timeout`, but excludes the time for which the process is suspended. */
export function timeLimit(ms: number): AbortSignal {
  const limit = new AbortController();
  afterRunning(ms, () => limit.abort(new DOMException('The time limit has passed.', 'TimeoutError')));
  return limit.signal;
}

/** Rejects with the error from `late` after `ms`. The work itself continues. */
export async function within<Result>(ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  let cancel = (): void => undefined;
  const expired = new Promise<never>((_, reject) => {
    cancel = afterRunning(ms, () => reject(late()));
  });
  return Promise.race([work, expired]).finally(cancel);
}
