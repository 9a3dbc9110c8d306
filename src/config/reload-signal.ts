/**
 * Reloads gateway.yaml on SIGHUP. If nothing listened for the signal, it would kill the process, so the commands `api`
 * and `worker` start listening before they load anything else. A signal that arrives during startup is handled as soon
 * as there is something to reload.
 */

const listeners = new Set<() => void>();
let isWatched = false;
let arrivedEarly = false;

export function watchReloadSignal(): void {
  if (isWatched) return;
  isWatched = true;
  process.on('SIGHUP', () => {
    arrivedEarly = listeners.size === 0;
    for (const listener of listeners) listener();
  });
}

/**
 * Calls the listener on each signal, and immediately if a signal arrived during startup. Returns a function that
 * removes the listener.
 */
export function onReloadSignal(listener: () => void): () => void {
  watchReloadSignal();
  listeners.add(listener);
  if (arrivedEarly) listener();
  arrivedEarly = false;
  return () => void listeners.delete(listener);
}
