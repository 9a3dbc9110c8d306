import { Choice } from '../shared/choice.js';
import { dateTime } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { GroupBy } from '../shared/period.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { saveCsv } from '../shared/save.js';
import { Table } from '../shared/table.js';
import { named } from './names.js';
import { linkTo } from './router.js';
import { failedOf, rateOf, rateText } from './rates.js';
import { Multiples, within, withinWords } from './trend-charts.js';

/** @typedef {import('./types.d.ts').Trends} Trends */
/** @typedef {Trends['data'][number]} Step */
/** @typedef {Trends['groups'][number]} Group */

const liveMs = 60_000;
/** @type {readonly (readonly [string, string])[]} */
const spans = [
  ['hour', 'Last hour'],
  ['day', 'Last day'],
  ['week', 'Last week'],
];
/** @type {readonly (readonly [string, string])[]} */
const groupings = [
  ['channel', 'By channel'],
  ['model', 'By model'],
];

/**
 * @param {{ api: import('./types.d.ts').Api, channel?: string }} props `channel` restricts the charts to one channel.
 */
export function TrendsSection({ api, channel: only }) {
  const by = only === undefined ? 'channel' : 'model';
  const [asked, setAsked] = useState({ span: 'day', by, channel: only ?? '', model: '' });
  const set = (/** @type {Partial<typeof asked>} */ change) => setAsked({ ...asked, ...change });
  const path = withQuery('/admin/v1/trends', asked);
  /** @type {import('../shared/live.js').Live<Trends>} */
  const live = useLive(path, (signal) => api.get(path, signal), liveMs);
  const trends = live.data;
  return html`<section class="trends">
    <h2>Created and ended tasks</h2>
    <div class="filters row apart">
      <${GroupBy}
        groups=${spans}
        by=${asked.span}
        onChange=${(/** @type {string} */ span) => set({ span })}
      />
      <${Pickers} asked=${asked} trends=${trends} isWhole=${only === undefined} onChange=${set} />
    </div>
    <${LiveState} live=${live} />
    ${trends && html`<${Multiples} trends=${trends} />`}
    <div class="filters row apart">
      <${GroupBy}
        groups=${only === undefined ? groupings : groupings.filter(([name]) => name === by)}
        by=${asked.by}
        onChange=${(/** @type {string} */ chosen) => set({ by: chosen })}
      />
      <button onClick=${() => saveCsv(api, path, `trends-${asked.span}`)}>Save as CSV</button>
    </div>
    ${trends && html`<${Groups} trends=${trends} by=${asked.by} />`}
    <details>
      <summary>The numbers behind the charts</summary>
      ${
        trends &&
        html`<${Table}
          label="The numbers behind the charts"
          columns=${stepColumns(trends.currency)}
          rows=${trends.data.toReversed()}
          keyOf=${(/** @type {Step} */ { at }) => String(at)}
          empty=""
        />`
      }
    </details>
  </section>`;
}

/**
 * @param {{
 *   asked: { channel: string, model: string }, trends: Trends | undefined, isWhole: boolean,
 *   onChange: (change: { channel?: string, model?: string }) => void,
 * }} props `isWhole`: whether the charts cover all channels.
 */
function Pickers({ asked: { channel, model }, trends, isWhole, onChange }) {
  const options = (/** @type {readonly string[]} */ names) => [
    ['', 'All'],
    ...names.map((name) => [name, name]),
  ];
  return html`<div class="row fields">
    ${
      isWhole &&
      html`<${Choice}
        label="Channel of the charts"
        value=${channel}
        options=${options(trends?.channels ?? [channel].filter(Boolean))}
        onChange=${(/** @type {string} */ chosen) => onChange({ channel: chosen })}
      />`
    }
    <${Choice}
      label="Model of the charts"
      value=${model}
      options=${options(trends?.models ?? [model].filter(Boolean))}
      onChange=${(/** @type {string} */ chosen) => onChange({ model: chosen })}
    />
  </div>`;
}

/** @param {{ trends: Trends, by: string }} props */
function Groups({ trends: { groups, currency }, by }) {
  const title = by === 'channel' ? 'Channel' : 'Model';
  /** @type {readonly import('../shared/table.js').Column<Group>[]} */
  const columns = [
    {
      title,
      cell: ({ name }) =>
        name === null
          ? html`<span class="soft">nothing submitted</span>`
          : html`<a href=${linkTo(['tasks'], { [by]: name })}>${name}</a>`,
      by: ({ name }) => name ?? '',
    },
    { title: 'Ended', cell: (group) => html`<${Spark} group=${group} />` },
    ...countColumns,
    {
      title: 'Success rate',
      isNumber: true,
      cell: (group) => rateText(rateOf(group)),
      by: rateOf,
    },
    { title: `Charged ${currency}`, money: ({ charged }) => charged, by: ({ charged }) => Number(charged) },
    { title: `Known cost ${currency}`, money: ({ cost }) => cost, by: ({ cost }) => Number(cost) },
  ];
  return html`<${Table}
    key=${by}
    label=${`Ended tasks by ${by}`}
    columns=${columns}
    rows=${groups}
    keyOf=${(/** @type {Group} */ { name }) => name ?? ''}
    empty="No tasks were created or ended in this period."
  />`;
}

/** @param {{ group: Group }} props */
function Spark({ group: { ended, failed } }) {
  const most = Math.max(...ended, 1);
  /** @param {{ tone: string, x: number, from: number, count: number }} props */
  const bar = ({ tone, x, from, count }) =>
    count > 0 &&
    html`<rect
      class=${tone}
      x=${x}
      y=${16 - ((from + count) / most) * 16}
      width="1"
      height=${(count / most) * 16}
    />`;
  return html`<svg
    class="share"
    viewBox=${`0 0 ${ended.length} 16`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${ended.map((all, x) => {
      const bad = failed[x] ?? 0;
      return [
        bar({ tone: 'bad', x, from: 0, count: bad }),
        bar({ tone: 'main', x, from: bad, count: all - bad }),
      ];
    })}
  </svg>`;
}

/** @type {readonly import('../shared/table.js').Column<Pick<Step, 'created' | 'succeeded' | 'failures'>>[]} */
const countColumns = [
  {
    title: 'Created',
    isNumber: true,
    cell: ({ created }) => created.toLocaleString('en'),
    by: ({ created }) => created,
  },
  {
    title: 'Succeeded',
    isNumber: true,
    cell: ({ succeeded }) => succeeded.toLocaleString('en'),
    by: ({ succeeded }) => succeeded,
  },
  { title: 'Failed', isNumber: true, cell: (row) => failedOf(row).toLocaleString('en'), by: failedOf },
  {
    title: 'Failure reasons',
    isProse: true,
    cell: ({ failures }) => failures.map(({ class: name, count }) => `${count} ${named(name)}`).join(', '),
  },
];

/**
 * @param {string} currency
 * @returns {readonly import('../shared/table.js').Column<Step>[]}
 */
function stepColumns(currency) {
  return [
    { title: 'From', cell: ({ at }) => dateTime(at).slice(0, 16), by: ({ at }) => at },
    ...countColumns,
    {
      title: 'Unfinished',
      isNumber: true,
      cell: ({ unfinished }) => unfinished?.toLocaleString('en') ?? '–',
    },
    { title: 'Delivered within', isNumber: true, cell: (step) => withinWords(within(step)) },
    { title: `Held ${currency}`, money: ({ held }) => held },
    { title: `Charged ${currency}`, money: ({ charged }) => charged },
    { title: `Refunded ${currency}`, money: ({ refunded }) => refunded },
    { title: `Known cost ${currency}`, money: ({ cost }) => cost },
  ];
}
