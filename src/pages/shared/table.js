import { money, movement, placesOf } from './format.js';
import { html, useLayoutEffect, useRef, useState } from './preact.js';

/**
 * Cells of a column with `isProse` may have several lines. `money` replaces `cell` for amounts, which get the same
 * number of decimal places throughout the table so that their decimal points align. `movement` does the same for signed
 * amounts. `by` returns the value to sort by.
 *
 * @template Row
 * @typedef {{
 *   title: string, cell?: (row: Row) => unknown, money?: (row: Row) => string | null,
 *   movement?: (row: Row) => string | null, isNumber?: boolean, isProse?: boolean,
 *   by?: (row: Row) => number | string,
 * }} Column
 */

/**
 * If `onOpen` is set, a click on a row opens it. Put a link into the row as well, for keyboard users. If `selection` is
 * set, rows have checkboxes.
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
  const [order, setOrder] = useState(/** @type {Order | undefined} */ (undefined));
  if (rows.length === 0) return html`<p class="soft">${empty}</p>`;
  const keys = rows.map(keyOf);
  const cells = cellsOf(columns, rows);
  const all = selection !== undefined && keys.every((key) => selection.has(key));
  return html`<div class="table" tabindex="0" role="region" aria-label=${label} ref=${region}>
    <table>
      <thead>
        <tr>
          ${
            selection &&
            html`<th>
              <label>
                <input
                  type="checkbox"
                  aria-label="Select all shown"
                  checked=${all}
                  onChange=${() => selection.toggle(keys, !all)}
                />
              </label>
            </th>`
          }
          ${columns.map((column) => headOf(column, order, setOrder))}
        </tr>
      </thead>
      <tbody>
        ${sorted(rows, columns, order).map((row) => {
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
                <label>
                  <input
                    type="checkbox"
                    aria-label=${`Select ${key}`}
                    checked=${selection.has(key)}
                    onChange=${() => selection.toggle([key], !selection.has(key))}
                  />
                </label>
              </td>`
            }
            ${columns.map((column, index) => html`<td class=${classOf(column)}>${cells[index]?.(row)}</td>`)}
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

/**
 * @template Row
 * @param {(row: Row) => unknown} cell
 * @returns {Column<Row>}
 */
export function actionsColumn(cell) {
  return { title: 'Actions', cell };
}

/** @typedef {{ title: string, isDescending: boolean }} Order */

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {Order | undefined} order
 * @param {(order: Order) => void} setOrder
 */
function headOf({ title, by, ...column }, order, setOrder) {
  const current = order?.title === title ? order : undefined;
  const next = { title, isDescending: current === undefined ? isFigure(column) : !current.isDescending };
  const sort = current && (current.isDescending ? 'descending' : 'ascending');
  return html`<th scope="col" class=${classOf(column)} aria-sort=${sort}>
    ${by === undefined ? title : html`<button onClick=${() => setOrder(next)}>${title}</button>`}
  </th>`;
}

/**
 * @template Row
 * @param {readonly Row[]} rows
 * @param {readonly Column<Row>[]} columns
 * @param {Order | undefined} order
 */
function sorted(rows, columns, order) {
  const by = columns.find(({ title }) => title === order?.title)?.by;
  if (order === undefined || by === undefined) return rows;
  const ascending = [...rows].sort((a, b) => {
    const [one, other] = [by(a), by(b)];
    return one < other ? -1 : one > other ? 1 : 0;
  });
  return order.isDescending ? ascending.reverse() : ascending;
}

/**
 * Keeps the header visible. If the table is wider than its container, it scrolls sideways, so its header sticks to the
 * table instead of the window. `--above` is the height of the part that has scrolled out of view at the top.
 */
function useHeadInSight() {
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const { current } = region;
    if (current === null) return undefined;
    const follow = () => {
      current.classList.toggle('wide', current.scrollWidth > current.clientWidth);
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
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
function cellsOf(columns, rows) {
  const amounts = columns.flatMap(({ money: amountOf, movement: signedOf }) =>
    rows.map((row) => (signedOf ?? amountOf)?.(row) ?? null),
  );
  const places = placesOf(amounts);
  return columns.map((column) => cellOf(column, places));
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {number} places
 * @returns {(row: Row) => unknown}
 */
function cellOf({ cell, money: amountOf, movement: signedOf }, places) {
  const valueOf = signedOf ?? amountOf;
  if (valueOf === undefined) return cell ?? (() => '');
  const written = signedOf === undefined ? money : movement;
  return (row) => written(valueOf(row), places);
}

/** @typedef {{ isNumber?: boolean, isProse?: boolean, money?: unknown, movement?: unknown }} Look */

/** @param {Look} column */
function isFigure({ isNumber, money: amountOf, movement: signedOf }) {
  return isNumber === true || amountOf !== undefined || signedOf !== undefined;
}

/** @param {Look} column */
function classOf(column) {
  return [isFigure(column) ? 'number' : '', column.isProse === true ? 'prose' : ''].join(' ').trim();
}

/** @param {EventTarget | null} target */
function isControl(target) {
  return target instanceof Element && target.closest('a, button, input, label') !== null;
}
