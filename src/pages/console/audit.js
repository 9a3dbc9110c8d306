/** The question: who changed what, when and why? */
import { words } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { Text } from './filters.js';
import { Pages } from './pages.js';
import { changeQuery, linkTo } from './router.js';

/** @typedef {import('./types.d.ts').AuditEntry} AuditEntry */

/** @type {Record<AuditEntry['outcome'], import('../shared/parts.js').Tone>} */
const tones = { begun: 'busy', done: 'good', refused: 'warn', failed: 'bad' };

/** @param {import('./types.d.ts').PageProps & { place: import('./router.js').Place }} props */
export function Audit({ api, place }) {
  const asked = Object.fromEntries(place.query);
  const path = withQuery('/admin/v1/audit', {
    limit: 50,
    by: asked['by'],
    task: asked['task'],
    after: asked['after'],
  });
  /** @type {import('../shared/live.js').Live<import('./types.d.ts').Page<AuditEntry>>} */
  const live = useLive(path, (signal) => api.get(path, signal), 5_000);
  const rows = live.data?.data ?? [];
  return html`<main>
    <div class="row apart head"><h1>Audit</h1></div>
    <div class="row fields filters">
      <${Text}
        label="Operator"
        value=${asked['by'] ?? ''}
        onChange=${(/** @type {string} */ by) => changeQuery(place, { by: by.trim(), after: undefined })}
      />
      <${Text}
        label="Task"
        value=${asked['task'] ?? ''}
        onChange=${(/** @type {string} */ task) => changeQuery(place, { task: task.trim(), after: undefined })}
      />
    </div>
    <${LiveState} live=${live} />
    ${live.data && html`<${Table} label="Audit" columns=${columns} rows=${rows} keyOf=${(/** @type {AuditEntry} */ { id }) => id} empty="Nothing was changed." />`}
    <${Pages}
      isFirst=${asked['after'] === undefined}
      hasMore=${live.data?.has_more === true}
      onNewest=${() => changeQuery(place, { after: undefined })}
      onOlder=${() => changeQuery(place, { after: rows.at(-1)?.id })}
    />
  </main>`;
}

/** @param {string} task */
const taskLink = (task) => html`<a class="mono" href=${linkTo(['tasks', task])}>${task}</a>`;

/** @param {{ title: string, items: NonNullable<AuditEntry['items']> }} props */
function Items({ title, items }) {
  return html`<details class="items">
    <summary>${title}</summary>
    <ul class="ids small" tabindex="0" role="region" aria-label="Tasks of the act">
      ${items.map(
        ({ task, outcome, result }) =>
          html`<li key=${task}>${taskLink(task)} ${outcome}${result === null ? '' : `: ${result}`}</li>`,
      )}
    </ul>
  </details>`;
}

/** @type {readonly import('../shared/table.js').Column<AuditEntry>[]} */
const columns = [
  { title: 'At', cell: ({ at }) => html`<${Time} at=${at} />` },
  { title: 'By', cell: ({ by, address }) => html`<span title=${address ?? ''}>${by}</span>` },
  { title: 'From', cell: ({ via }) => via },
  { title: 'Act', cell: ({ action }) => words(action) },
  {
    title: 'On',
    isProse: true,
    cell: ({ task, target, items }) =>
      items !== null
        ? html`<${Items} title=${target} items=${items} />`
        : task === null
          ? target
          : taskLink(task),
  },
  { title: 'Reason', isProse: true, cell: ({ reason }) => reason },
  { title: 'Outcome', cell: ({ outcome }) => html`<${Badge} tone=${tones[outcome]} word=${outcome} />` },
  {
    title: 'What',
    isProse: true,
    cell: ({ what, result }) => html`<span class="mono">${what}</span> ${result ?? ''}`,
  },
];
