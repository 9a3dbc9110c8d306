import { words } from '../shared/format.js';
import { Badge, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';

/** @typedef {import('./types.d.ts').TaskDetail['attempts'][number]} Attempt */

const columns = [
  { title: '#', cell: (/** @type {Attempt} */ { n }) => n },
  { title: 'State', cell: (/** @type {Attempt} */ { state }) => words(state) },
  { title: 'Channel', cell: (/** @type {Attempt} */ { channel }) => channel },
  { title: 'Credential', cell: (/** @type {Attempt} */ { credential }) => credential },
  {
    title: 'Upstream’s job',
    isProse: true,
    cell: (/** @type {Attempt} */ { upstream_id: id, stray_upstream_id: stray }) =>
      html`<span class="mono">${id ?? '–'}</span>${
          stray === null
            ? null
            : html` <${Badge} tone="warn" word="stray" /> <span class="mono">${stray}</span> may be billed`
        }`,
  },
  {
    title: 'Why',
    isProse: true,
    cell: (/** @type {Attempt} */ { code, message }) => [code, message].filter(Boolean).join(': '),
  },
  { title: 'Began', cell: (/** @type {Attempt} */ { started_at: at }) => html`<${Time} at=${at} />` },
];

/** @param {{ attempts: readonly Attempt[] }} props */
export function Attempts({ attempts }) {
  return html`<${Table}
    label="Attempts"
    columns=${columns}
    rows=${attempts}
    keyOf=${(/** @type {Attempt} */ { n }) => String(n)}
    empty="It was not submitted."
  />`;
}
