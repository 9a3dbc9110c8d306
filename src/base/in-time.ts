/** Rejects with `late()` when the signal aborts. The work itself continues. */
export function inTime<Value>(signal: AbortSignal, work: Promise<Value>, late: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(late());
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', expire));
    if (signal.aborted) expire();
    else signal.addEventListener('abort', expire, { once: true });
  });
}
