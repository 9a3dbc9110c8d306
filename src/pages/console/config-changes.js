import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';

/** @typedef {import('./types.d.ts').ConfigChange} ConfigChange */

/** @param {{ changes: readonly ConfigChange[] }} props */
export function ConfigChanges({ changes }) {
  return html`<${Table}
    label="Changes"
    columns=${columns}
    rows=${changes}
    keyOf=${(/** @type {ConfigChange} */ { kind, path: where }) => `${kind} ${where}`}
    empty="No changes."
  />`;
}

const hidden = html`<span class="soft">not shown</span>`;

/** @type {readonly import('../shared/table.js').Column<ConfigChange>[]} */
const columns = [
  { title: 'Where', isProse: true, cell: ({ path: where }) => html`<code>${where}</code>` },
  {
    title: 'In force',
    isProse: true,
    cell: ({ kind, before }) =>
      kind === 'added' ? '–' : (before ?? (kind === 'removed' ? 'there' : hidden)),
  },
  {
    title: 'Afterwards',
    isProse: true,
    cell: ({ kind, after }) => (kind === 'removed' ? '–' : (after ?? (kind === 'added' ? 'new' : hidden))),
  },
];
