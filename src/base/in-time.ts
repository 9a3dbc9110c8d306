/** Settles like `work`, but rejects with `late()` when the signal aborts. Does not stop the work. */
export function inTime<Value>(signal: AbortSignal, work: Promise<Value>, late: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(late());
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', expire));
    if (signal.aborted) expire();
    else signal.addEventListener('abort', expire, { once: true });
  });
}
