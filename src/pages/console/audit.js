import { Choice } from '../shared/choice.js';
import { counted, shortAmounts } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { sentenceOf } from './audit-sentence.js';
import { spans, Text } from './filters.js';
import { Pages } from './pages.js';
import { changeQuery, linkTo } from './router.js';

/** @typedef {import('./types.d.ts').AuditEntry} AuditEntry */

/** @type {Record<AuditEntry['outcome'], import('../shared/parts.js').Tone>} */
const tones = { begun: 'busy', done: 'good', refused: 'warn', failed: 'bad' };

/** @param {import('./types.d.ts').PageProps & { place: import('./router.js').Place }} props */
export function Audit({ api, place }) {
  const asked = Object.fromEntries(place.query);
  /** @type {import('../shared/live.js').Live<import('./types.d.ts').Page<AuditEntry>>} */
  const live = useLive(place.query.toString(), (signal) => api.get(pathOf(asked), signal), 5_000);
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
      <${Text}
        label="Account, key, channel"
        value=${asked['target'] ?? ''}
        onChange=${(/** @type {string} */ target) => changeQuery(place, { target: target.trim(), after: undefined })}
      />
      <${Choice}
        label="Time"
        value=${asked['hours'] ?? ''}
        options=${spans}
        onChange=${(/** @type {string} */ hours) => changeQuery(place, { hours, after: undefined })}
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

const hourSeconds = 3_600;

/**
 * The time is rounded down to the minute, so that the path stays the same and an unchanged response is not sent again.
 *
 * @param {Record<string, string>} asked
 */
function pathOf({ by, task, target, hours, after }) {
  const minute = Math.floor(Date.now() / 60_000) * 60;
  const since = hours === undefined ? undefined : minute - Number(hours) * hourSeconds;
  return withQuery('/admin/v1/audit', { limit: 50, by, task, target, since, after });
}

/** @param {string} task */
const taskLink = (task) => html`<a class="mono" href=${linkTo(['tasks', task])}>${task}</a>`;

/** @param {{ title: string, items: NonNullable<AuditEntry['items']> }} props */
function Items({ title, items }) {
  return html`<details class="items">
    <summary>${title}</summary>
    <ul class="ids small" tabindex="0" role="region" aria-label="Tasks of the action">
      ${items.map(
        ({ task, outcome, result }) =>
          html`<li key=${task}>${taskLink(task)} ${outcome}${result === null ? '' : `: ${result}`}</li>`,
      )}
    </ul>
  </details>`;
}

/** @param {{ entry: AuditEntry }} props */
function Sentence({ entry }) {
  const { target, task, items } = entry;
  const [before, after] = sentenceOf(entry);
  if (after === undefined) return before;
  if (items !== null) return html`${before}<${Items} title=${target} items=${items} />${after}`;
  return html`${before}${task === null ? target : taskLink(task)}${after}`;
}

/** @param {{ entry: AuditEntry }} props */
function Details({ entry: { what, result, via, address } }) {
  return html`<details class="items">
    <summary>Details</summary>
    <div class="small">
      By ${via}${address === null ? '' : ` from ${address}`}. Request:
      <span class="mono">${what}</span> ${result}
    </div>
  </details>`;
}

/** A configuration change can affect many places, so only this many are displayed without a click. */
const openMax = 3;

/** @param {{ entry: AuditEntry }} props */
function Changes({ entry: { changes } }) {
  if (changes === null || changes.length === 0) return null;
  const list = html`<ul class="changes small">
    ${changes.map(
      ({ path, kind, before, after }) =>
        html`<li key=${`${kind} ${path}`}>
          <code>${path}</code
          >${` ${kind === 'added' ? 'none' : textOf(before)} → ${kind === 'removed' ? 'none' : textOf(after)}`}
        </li>`,
    )}
  </ul>`;
  if (changes.length <= openMax) return list;
  return html`<details class="items">
    <summary>${counted(changes.length, 'change')}</summary>
    ${list}
  </details>`;
}

/** @param {string | null} value */
const textOf = (value) => (value === null ? '(not shown)' : shortAmounts(value));

/** @type {readonly import('../shared/table.js').Column<AuditEntry>[]} */
const columns = [
  { title: 'At', cell: ({ at }) => html`<${Time} at=${at} />` },
  {
    title: 'What happened',
    isProse: true,
    cell: (entry) => html`<${Sentence} entry=${entry} /><${Changes} entry=${entry} />`,
  },
  { title: 'Reason', isProse: true, cell: ({ reason }) => reason },
  { title: 'Outcome', cell: ({ outcome }) => html`<${Badge} tone=${tones[outcome]} word=${outcome} />` },
  { title: 'More', isProse: true, cell: (entry) => html`<${Details} entry=${entry} />` },
];
