import { useLayoutEffect, useRef } from '../shared/preact.js';

/**
 * Keys are ignored while a field has the focus or a dialog is open. Do not use keys that act on the focused element,
 * such as Enter. Escape removes the focus from a field.
 *
 * @param {Record<string, () => void>} keys by `KeyboardEvent.key`
 */
export function useKeys(keys) {
  const newest = useRef(keys);
  newest.current = keys;
  // Listen before the page is painted, so that no early key press is lost.
  useLayoutEffect(() => {
    /** @param {KeyboardEvent} event */
    function onKey(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const field = fieldOf(event.target);
      if (field !== undefined) {
        if (event.key === 'Escape') field.blur();
        return;
      }
      const run = newest.current[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    }
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** @param {EventTarget | null} target */
function fieldOf(target) {
  return target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select')
    ? target
    : undefined;
}
