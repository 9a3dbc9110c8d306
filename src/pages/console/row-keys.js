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

/** The key of the row that has the focus. */
export function focusedRow() {
  /** @type {HTMLElement | null | undefined} */
  const row = document.activeElement?.closest('tr.opens');
  return row?.dataset['key'];
}
