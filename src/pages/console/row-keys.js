import { useEffect } from '../shared/preact.js';
import { useKeys } from './keyboard.js';

/**
 * The keys `j` and `k` focus the link or button in the next or previous row. Enter then opens the row, browsers scroll
 * to it, and screen readers read it. Rows are elements with the class `opens`.
 */
export function useRowKeys() {
  /** @param {number} by */
  const move = (by) => {
    const rows = [...document.querySelectorAll('.opens')];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    /** @type {HTMLElement | null | undefined} */
    const control = rows[Math.min(Math.max(at + by, 0), rows.length - 1)]?.querySelector('a, button');
    control?.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}

let left = { list: '', y: 0, key: /** @type {string | undefined} */ (undefined) };

/**
 * @param {string} list
 * @param {boolean} isShown
 */
export function usePosition(list, isShown) {
  useEffect(() => {
    if (!isShown) return undefined;
    const { list: known, y, key } = left;
    if (known === list) {
      scrollTo(0, y);
      const rows = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('tr.opens'));
      const row = [...rows].find(({ dataset }) => dataset['key'] === key);
      row?.querySelector('a')?.focus({ preventScroll: true });
    }
    // Pressing Enter on a link also fires a click. Read the scroll position and the row now, because the view has
    // changed once the URL has.
    const leave = (/** @type {MouseEvent} */ event) => {
      left = { list, y: scrollY, key: rowOf(event.target) };
    };
    addEventListener('click', leave, true);
    return () => removeEventListener('click', leave, true);
  }, [list, isShown]);
}

export const focusedRow = () => rowOf(document.activeElement);

/** @param {EventTarget | null} target */
function rowOf(target) {
  /** @type {HTMLElement | null} */
  const row = target instanceof Element ? target.closest('tr.opens') : null;
  return row?.dataset['key'];
}
