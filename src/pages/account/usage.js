/** The question: what did I use, when, and on what? */
import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { DayChart, Share } from './chart.js';
import { periods } from './periods.js';

/**
 * @typedef {{
 *   day?: string | null, model?: string | null, key?: string | null, end_user?: string | null,
 *   tasks: number, settled: number, released: number, open: number, charged: string, refunded: string,
 * }} Row
 * @typedef {{ currency: string, from: string, to: string, data: Row[] }} Usage
 */

const groups = [
  ['day', 'Day'],
  ['model', 'Model'],
  ['key', 'Key'],
  ['end_user', 'End user'],
];
const liveMs = 30_000;

/** @param {{ api: import('../shared/api.js').Api }} props */
export function UsagePage({ api }) {
  const [by, setBy] = useState('day');
  const [asked, setAsked] = useState(() => ({ name: 'This month', ...periods(Date.now())['This month'] }));
  const path = withQuery('/v1/usage', { by, from: asked.from, to: asked.to });
  /** @type {import('../shared/live.js').Live<Usage>} */
  const live = useLive(path, (signal) => api.get(path, signal), liveMs);
  const title = groups.find(([name]) => name === by)?.[1] ?? '';
  return html`<main class="page">
    <h1>Usage</h1>
    <div class="filters row apart">
      <div class="row" role="group" aria-label="By">
        ${groups.map(
          ([name, words]) =>
            html`<button aria-pressed=${name === by} onClick=${() => setBy(name ?? 'day')}>${words}</button>`,
        )}
      </div>
      <button onClick=${() => save(api, path, by)}>Save as CSV</button>
    </div>
    <${Period} asked=${asked} onChange=${setAsked} />
    <${LiveState} live=${live} />
    <p class="soft">
      Charged is what finished tasks have cost. The caps of a key count this less refunds, plus what is held
      for unfinished tasks: see <a href="#/key">Key</a>.
    </p>
    ${live.data && html`<${Report} usage=${live.data} by=${by} title=${title} />`}
  </main>`;
}

/** @typedef {{ name: string, from: string, to: string }} Asked `to`: the day after the last one. */

/** @param {{ asked: Asked, onChange: (asked: Asked) => void }} props */
function Period({ asked, onChange }) {
  const known = periods(Date.now());
  /** @param {'from' | 'to'} name @param {string} label */
  const dayInput = (name, label) =>
    html`<label>
      ${label}
      <input
        type="date"
        required
        value=${asked[name]}
        onChange=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ { currentTarget }) =>
          currentTarget.value !== '' && onChange({ ...asked, name: '', [name]: currentTarget.value })}
      />
    </label>`;
  return html`<div class="filters row">
    <label>
      Period
      <select
        onChange=${(
          /** @type {Event & { currentTarget: HTMLSelectElement }} */ { currentTarget: { value } },
        ) => {
          const chosen = known[value];
          if (chosen !== undefined) onChange({ name: value, ...chosen });
        }}
      >
        ${asked.name === '' && html`<option value="" selected>Days of your own</option>`}
        ${Object.keys(known).map((name) => html`<option value=${name} selected=${name === asked.name}>${name}</option>`)}
      </select>
    </label>
    ${dayInput('from', 'From')} ${dayInput('to', 'Until before')}
  </div>`;
}

/** @param {{ usage: Usage, by: string, title: string }} props */
function Report({ usage: { data, currency, from, to }, by, title }) {
  /** @param {Row} row */
  const nameOf = (row) => row[/** @type {'day' | 'model' | 'key' | 'end_user'} */ (by)] ?? 'not named';
  const most = Math.max(...data.map(({ charged }) => Number(charged)), 0);
  /** @type {readonly import('../shared/table.js').Column<Row>[]} */
  const columns = [
    { title, cell: nameOf },
    { title: `Charged ${currency}`, money: ({ charged }) => charged },
    { title: '', cell: ({ charged }) => html`<${Share} of=${Number(charged)} most=${most} />` },
    { title: `Refunded ${currency}`, money: ({ refunded }) => refunded },
    { title: 'Tasks', isNumber: true, cell: ({ tasks }) => tasks.toLocaleString('en') },
    { title: 'Unfinished', isNumber: true, cell: ({ open }) => open.toLocaleString('en') },
  ];
  return html`<p class="soft">From ${from} until before ${to}, in UTC.</p>
    ${by === 'day' && data.length > 0 && html`<${DayChart} rows=${data} from=${from} to=${to} currency=${currency} />`}
    <${Table}
      label="Usage"
      columns=${by === 'day' ? columns.filter(({ title: name }) => name !== '') : columns}
      rows=${data}
      keyOf=${nameOf}
      empty="Nothing was used in this time."
    />`;
}

/**
 * @param {import('../shared/api.js').Api} api
 * @param {string} path
 * @param {string} by
 */
async function save(api, path, by) {
  /** @type {string} */
  const text = await api.get(`${path}&format=csv`);
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `usage-by-${by}.csv`;
  link.click();
  URL.revokeObjectURL(address);
}
