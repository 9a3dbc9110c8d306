import { useLive } from '../shared/live.js';
import { BarChart, Share } from '../shared/chart.js';
import { money } from '../shared/format.js';
import { LiveState } from '../shared/parts.js';
import { GroupBy, Period } from '../shared/period.js';
import { everyDay, periods } from '../shared/periods.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { saveCsv } from '../shared/save.js';
import { Table } from '../shared/table.js';

/**
 * @typedef {{
 *   day?: string | null, model?: string | null, key?: string | null, end_user?: string | null,
 *   tasks: number, settled: number, released: number, open: number, charged: string, refunded: string,
 * }} Row
 * @typedef {{ currency: string, from: string, to: string, data: Row[] }} Usage
 */

/** @type {readonly (readonly [string, string])[]} */
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
      <${GroupBy} groups=${groups} by=${by} onChange=${setBy} />
      <button onClick=${() => saveCsv(api, path, `usage-by-${by}`)}>Save as CSV</button>
    </div>
    <${Period} asked=${asked} onChange=${setAsked} />
    <${LiveState} live=${live} />
    <p class="soft">
      Shows the charges of finished tasks. A key’s caps apply to charges minus refunds, plus the holds of
      unfinished tasks. <a href="#/key">Key</a> shows the caps, the projection of the month and the alerts.
    </p>
    ${live.data && html`<${Report} usage=${live.data} by=${by} title=${title} />`}
  </main>`;
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
    ${by === 'day' && data.length > 0 && html`<${DayChart} usage=${{ data, currency, from, to }} />`}
    <${Table}
      label="Usage"
      columns=${by === 'day' ? columns.filter(({ title: name }) => name !== '') : columns}
      rows=${data}
      keyOf=${nameOf}
      empty="Nothing was used in this period."
    />`;
}

/** @param {{ usage: Pick<Usage, 'data' | 'currency' | 'from' | 'to'> }} props */
function DayChart({ usage: { data, currency, from, to } }) {
  const byDay = new Map(data.map((row) => [row.day, row.charged]));
  const days = everyDay(from, to);
  const most = data.reduce((top, { charged }) => (Number(charged) > Number(top) ? charged : top), '0');
  return html`<${BarChart}
    label="Charged"
    top=${`${money(most)} ${currency} at most`}
    from=${from}
    to=${`before ${to}`}
    bars=${days.map((day) => {
      const charged = byDay.get(day) ?? '0';
      return {
        title: `${day}: ${money(charged)} ${currency}`,
        parts: [{ tone: 'main', value: Number(charged) }],
      };
    })}
  />`;
}
