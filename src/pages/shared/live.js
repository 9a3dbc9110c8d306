import { errorOf, OfflineError } from './api.js';
import { useCallback, useEffect, useRef, useState } from './preact.js';

/**
 * After a failed load, `data` is still from the last response, and `error` explains the failure. `refresh` resolves
 * after the next load, even if that load fails.
 *
 * @template T
 * @typedef {{ data: T | undefined, error: Error | undefined, offlineSince: number | undefined, refresh: () => Promise<void> }} Live
 */

/**
 * Loads immediately, then every `everyMs` while the tab is visible. Loads never overlap. If `key` changes, the previous
 * data is dropped.
 *
 * @template T
 * @param {string} key
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {number} everyMs 0 loads only once.
 * @returns {Live<T>}
 */
export function useLive(key, load, everyMs) {
  return useLoading({ key, load, everyMs });
}

/**
 * Loads once, and again whenever `version` changes. Until then, shows the previous data. Loads nothing while `version`
 * is undefined.
 *
 * @template T
 * @param {string} key
 * @param {string | undefined} version
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @returns {Live<T>}
 */
export function useVersions(key, version, load) {
  return useLoading({ key, version, load, everyMs: 0, isOff: version === undefined });
}

/**
 * @template T
 * @param {{
 *   key: string, load: (signal: AbortSignal) => Promise<T>, everyMs: number, version?: string | undefined,
 *   isOff?: boolean,
 * }} what
 * @returns {Live<T>}
 */
function useLoading({ key, load, everyMs, version, isOff = false }) {
  /** @type {{ key: string, data?: T | undefined, error?: Error | undefined, offlineSince?: number | undefined }} */
  const nothing = { key };
  const [shown, setShown] = useState(nothing);
  const [round, setRound] = useState(0);
  const newest = useRef(load);
  newest.current = load;
  /** @type {{ current: (() => void)[] }} */
  const waiting = useRef([]);
  const interval = useRef(everyMs);
  interval.current = everyMs;
  useEffect(() => {
    if (isOff) return undefined;
    const stop = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let isLoading = false;
    const served = waiting.current.splice(0);

    async function run() {
      if (isLoading || document.visibilityState === 'hidden') return;
      isLoading = true;
      clearTimeout(timer);
      try {
        const data = await newest.current(stop.signal);
        if (!stop.signal.aborted) setShown({ key, data });
      } catch (thrown) {
        const error = errorOf(thrown);
        if (!stop.signal.aborted) setShown((before) => failed(before, { key, error }));
      }
      isLoading = false;
      if (!stop.signal.aborted) for (const resolve of served.splice(0)) resolve();
      if (interval.current > 0 && !stop.signal.aborted) timer = setTimeout(again, interval.current);
    }

    // `everyMs` may have become 0 during the load.
    const again = () => void (interval.current > 0 && run());
    const onVisible = () => void run();
    document.addEventListener('visibilitychange', onVisible);
    void run();
    return () => {
      stop.abort();
      waiting.current.unshift(...served);
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [key, round, version, isOff]);
  const refresh = useCallback(
    () =>
      new Promise((/** @type {(value: void) => void} */ resolve) => {
        waiting.current.push(resolve);
        setRound((before) => before + 1);
      }),
    [],
  );
  const current = shown.key === key ? shown : nothing;
  return { data: current.data, error: current.error, offlineSince: current.offlineSince, refresh };
}

/**
 * @template T
 * @param {{ key: string, data?: T | undefined, offlineSince?: number | undefined }} before
 * @param {{ key: string, error: Error }} failure
 */
function failed(before, { key, error }) {
  const same = before.key === key ? before : { key };
  const offlineSince = error instanceof OfflineError ? (same.offlineSince ?? Date.now()) : undefined;
  return { ...same, error, offlineSince };
}
