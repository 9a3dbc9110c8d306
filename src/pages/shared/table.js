import { money, movement, placesOf } from './format.js';
import { html, useEffect, useRef } from './preact.js';

/**
 * `isProse`: its text may have several lines. `money`, in place of a cell: an amount, written with as many places as all
 * of its column need, so that points stand below each other. `movement`: the same, with a sign.
 *
 * @template Row
 * @typedef {{
 *   title: string, cell?: (row: Row) => unknown, money?: (row: Row) => string | null,
 *   movement?: (row: Row) => string, isNumber?: boolean, isProse?: boolean,
 * }} Column
 */

/**
 * A dense table with a sticky head. `onOpen`: rows can be opened by a click; each should also have a link for the
 * keyboard. `selection`: rows have check boxes.
 *
 * @template Row
 * @param {{
 *   label: string,
 *   columns: readonly Column<Row>[],
 *   rows: readonly Row[],
 *   keyOf: (row: Row) => string,
 *   empty: string,
 *   onOpen?: (row: Row) => void,
 *   selection?: { has: (key: string) => boolean, toggle: (keys: readonly string[], isOn: boolean) => void },
 * }} props
 */
export function Table({ label, columns, rows, keyOf, empty, onOpen, selection }) {
  const region = useHeadInSight();
  if (rows.length === 0) return html`<p class="soft">${empty}</p>`;
  const keys = rows.map(keyOf);
  const cells = columns.map((column) => cellOf(column, rows));
  const all = selection !== undefined && keys.every((key) => selection.has(key));
  return html`<div class="table" tabindex="0" role="region" aria-label=${label} ref=${region}>
    <table>
      <thead>
        <tr>
          ${
            selection &&
            html`<th>
              <input
                type="checkbox"
                aria-label="Select all in sight"
                checked=${all}
                onChange=${() => selection.toggle(keys, !all)}
              />
            </th>`
          }
          ${columns.map((column) => html`<th scope="col" class=${classOf(column)}>${column.title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => {
          const key = keyOf(row);
          return html`<tr
            key=${key}
            class=${onOpen === undefined ? undefined : 'opens'}
            data-key=${key}
            onClick=${(/** @type {MouseEvent} */ event) => {
              if (onOpen !== undefined && !isControl(event.target)) onOpen(row);
            }}
          >
            ${
              selection &&
              html`<td>
                <input
                  type="checkbox"
                  aria-label=${`Select ${key}`}
                  checked=${selection.has(key)}
                  onChange=${() => selection.toggle([key], !selection.has(key))}
                />
              </td>`
            }
            ${columns.map((column, index) => html`<td class=${classOf(column)}>${cells[index]?.(row)}</td>`)}
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

/** Where a table scrolls sideways, its head sticks to it and not to the window: how much of it is above the window. */
function useHeadInSight() {
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const { current } = region;
    if (current === null) return undefined;
    const follow = () => {
      const above = -current.getBoundingClientRect().top - current.clientTop;
      current.style.setProperty('--above', `${Math.max(0, above)}px`);
    };
    follow();
    addEventListener('scroll', follow);
    addEventListener('resize', follow);
    return () => {
      removeEventListener('scroll', follow);
      removeEventListener('resize', follow);
    };
  });
  return region;
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {readonly Row[]} rows
 * @returns {(row: Row) => unknown}
 */
function cellOf({ cell, money: amountOf, movement: signedOf }, rows) {
  const valueOf = signedOf ?? amountOf;
  if (valueOf === undefined) return cell ?? (() => '');
  const places = placesOf(rows.map(valueOf));
  const written = signedOf === undefined ? money : movement;
  return (row) => written(valueOf(row), places);
}

/** @param {{ isNumber?: boolean, isProse?: boolean, money?: unknown, movement?: unknown }} column */
function classOf({ isNumber, isProse, money: amountOf, movement: signedOf }) {
  const isFigure = isNumber === true || amountOf !== undefined || signedOf !== undefined;
  return [isFigure ? 'number' : '', isProse === true ? 'prose' : ''].join(' ').trim();
}

/** @param {EventTarget | null} target */
function isControl(target) {
  return target instanceof Element && target.closest('a, button, input') !== null;
}
