import { answerOf } from './delivery.js';
import { words } from './format.js';
import { Time } from './parts.js';
import { html } from './preact.js';
import { Table } from './table.js';

/**
 * @typedef {{ at: number, duration_ms: number, status: number | null, error: string | null }} Sent
 * @typedef {{ state: string, target: string, attempts: readonly Sent[] }} Delivery
 */

const columns = [
  { title: 'At', cell: (/** @type {Sent} */ { at }) => html`<${Time} at=${at} />` },
  { title: 'Response', cell: answerOf },
  { title: 'Took', isNumber: true, cell: (/** @type {Sent} */ { duration_ms: took }) => `${took} ms` },
];

/** @param {{ delivery: Delivery }} props */
export function Callback({ delivery: { state, target, attempts } }) {
  return html`<h2>Callback: ${words(state)}</h2>
    <p class="soft">${target}</p>
    <${Table}
      label="Callback attempts"
      columns=${columns}
      rows=${attempts}
      keyOf=${(/** @type {Sent} */ { at }) => String(at)}
      empty="It has not been sent yet."
    />`;
}
