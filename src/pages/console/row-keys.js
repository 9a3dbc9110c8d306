import { useEffect } from '../shared/preact.js';
import { useKeys } from './keyboard.js';

/**
 * `j` and `k` move the focus through the rows of the page's table, by the link of each: so Enter opens it, it scrolls
 * into sight, and whoever hears the page is told.
 */
export function useRowKeys() {
  /** @param {number} by */
  const move = (by) => {
    const rows = [...document.querySelectorAll('tr.opens')];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    /** @type {HTMLElement | null | undefined} */
    const link = rows[Math.min(Math.max(at + by, 0), rows.length - 1)]?.querySelector('a');
    link?.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}

/** Where a list was left. */
let left = { list: '', y: 0, key: /** @type {string | undefined} */ (undefined) };

/**
 * Whoever comes back to a list finds it where it was, with the focus in the same row.
 *
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
    return () => {
      left = { list, y: scrollY, key: focusedRow() };
    };
  }, [list, isShown]);
}

/** The key of the row that has the focus. */
export function focusedRow() {
  /** @type {HTMLElement | null | undefined} */
  const row = document.activeElement?.closest('tr.opens');
  return row?.dataset['key'];
}
