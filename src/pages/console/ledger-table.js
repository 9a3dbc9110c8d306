import { words } from '../shared/format.js';
import { Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';

/** @typedef {import('./types.d.ts').LedgerEntry} LedgerEntry */

/** @param {{ entries: readonly LedgerEntry[], currency: string }} props */
export function LedgerTable({ entries, currency }) {
  return html`<${Table}
    label="Ledger"
    columns=${[
      { title: `Amount ${currency}`, movement: (/** @type {LedgerEntry} */ { amount }) => amount },
      { title: 'Entry', cell: (/** @type {LedgerEntry} */ { kind }) => words(kind) },
      { title: 'Note', isProse: true, cell: (/** @type {LedgerEntry} */ { note }) => note ?? '' },
      { title: 'At', cell: (/** @type {LedgerEntry} */ { at }) => html`<${Time} at=${at} />` },
    ]}
    rows=${entries}
    keyOf=${(/** @type {LedgerEntry} */ { id }) => id}
    empty="No ledger entries."
  />`;
}
