/**
 * SIGHUP reloads gateway.yaml. Without a listener, the signal would kill the process, so `api` and `worker` start
 * listening before they load anything else. A signal that arrives during startup is handled once there is something to
 * reload.
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
 * Calls the listener for each signal, and immediately if one arrived during startup. Returns a function that removes
 * the listener.
 */
export function onReloadSignal(listener: () => void): () => void {
  watchReloadSignal();
  listeners.add(listener);
  if (arrivedEarly) listener();
  arrivedEarly = false;
  return () => void listeners.delete(listener);
}
