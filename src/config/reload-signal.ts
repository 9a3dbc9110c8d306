/**
 * SIGHUP: reload gateway.yaml. The signal ends a process that does not listen to it, so the verbs `api` and
 * `worker` listen before they load anything else; what arrives from then on is answered as soon as there is something
 * to reload.
 */

const listeners = new Set<() => void>();
let isWatched = false;
let arrivedEarly = false;

/** From here on the signal does not end this process. */
export function watchReloadSignal(): void {
  if (isWatched) return;
  isWatched = true;
  process.on('SIGHUP', () => {
    arrivedEarly = listeners.size === 0;
    for (const listener of listeners) listener();
  });
}

/** Calls the listener at each signal, and at once if one arrived during the start. Returns what ends that. */
export function onReloadSignal(listener: () => void): () => void {
  watchReloadSignal();
  listeners.add(listener);
  if (arrivedEarly) listener();
  arrivedEarly = false;
  return () => void listeners.delete(listener);
}
