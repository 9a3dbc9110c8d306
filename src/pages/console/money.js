import { BarChart, Share } from '../shared/chart.js';
import { counted, money, roundMoney, sumMoney } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { GroupBy, Period } from '../shared/period.js';
import { everyDay, periods } from '../shared/periods.js';
import { html } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { saveCsv } from '../shared/save.js';
import { Table } from '../shared/table.js';
import { BillCheck } from './bill-check.js';
import { Figure } from './figure.js';
import { knownAmount } from './known-cost.js';
import { changeQuery, linkTo } from './router.js';
import { Statements } from './statements.js';

/** @typedef {import('./types.d.ts').MarginRow} Row */
/** @typedef {import('./types.d.ts').Margin} Margin */
/** @typedef {'day' | 'channel' | 'model' | 'account' | 'key' | 'end_user'} Group */

/** @type {readonly (readonly [Group, string])[]} */
const groups = [
  ['day', 'Day'],
  ['model', 'Model'],
  ['channel', 'Channel'],
  ['account', 'Account'],
  ['key', 'Key'],
  ['end_user', 'End user'],
];
const liveMs = 60_000;
/** In days. Longer reports are loaded only once, because their query is slow. */
const liveDaysMax = 31;
/** The page shows at most this many rows. The CSV contains all of them. */
const rowsShown = 500;

/** @param {import('./types.d.ts').PageProps & { place: import('./router.js').Place }} props */
export function Money({ api, may, currency, place }) {
  const { query } = place;
  const by = groups.find(([name]) => name === query.get('by'))?.[0] ?? 'day';
  const name = query.get('period') ?? 'This month';
  const known = periods(Date.now())[name] ?? { from: '', to: '' };
  const asked = { name, from: query.get('from') ?? known.from, to: query.get('to') ?? known.to };
  const path = withQuery('/admin/v1/margin', { by, from: asked.from, to: asked.to });
  const isLong = everyDay(asked.from, asked.to).length > liveDaysMax;
  /** @type {import('../shared/live.js').Live<Margin>} */
  const live = useLive(path, (signal) => api.get(path, signal), isLong ? 0 : liveMs);
  return html`<main>
    <div class="row apart head">
      <h1>Money</h1>
      <button onClick=${() => saveCsv(api, path, `margin-by-${by}`)}>Save as CSV</button>
    </div>
    <div class="filters row apart">
      <${GroupBy}
        groups=${groups}
        by=${by}
        onChange=${(/** @type {string} */ chosen) => changeQuery(place, { by: chosen })}
      />
      <${Period}
        asked=${asked}
        onChange=${(/** @type {import('../shared/period.js').Asked} */ chosen) =>
          changeQuery(place, {
            period: chosen.name === '' ? 'days' : chosen.name,
            from: chosen.name === '' ? chosen.from : undefined,
            to: chosen.name === '' ? chosen.to : undefined,
          })}
      />
    </div>
    <${LiveState} live=${live} />
    ${live.data && html`<${Report} margin=${live.data} by=${by} />`}
    ${may('getAccountStatement') && html`<${Statements} api=${api} />`}
    ${may('compareBill') && html`<${BillCheck} api=${api} may=${may} currency=${currency} />`}
  </main>`;
}

/** @param {{ margin: Margin, by: Group }} props */
function Report({ margin: { data, currency, from, to }, by }) {
  const sum = (/** @type {'charged' | 'refunded' | 'cost' | 'margin'} */ name) =>
    sumMoney(data.map((row) => row[name]));
  const unknown = data.reduce((count, row) => count + row.cost_unknown, 0);
  const [charged, refunded] = [sum('charged'), sum('refunded')];
  const all = { cost: sum('cost'), margin: sum('margin'), cost_unknown: unknown };
  const [cost, margin] = [knownAmount(all, 'cost'), knownAmount(all, 'margin')];
  const isPartial = unknown > 0 && cost !== null;
  return html`<p class="soft">Tasks that ended and refunds from ${from} until before ${to}, in UTC.</p>
    <div class="figures">
      <${Figure}
        title=${`Charged ${currency}`}
        value=${roundMoney(charged)}
        more=${Number(refunded) > 0 && `${roundMoney(refunded)} of this was refunded`}
      />
      <${Figure}
        title=${`Upstream cost ${currency}`}
        value=${`${isPartial ? 'at least ' : ''}${roundMoney(cost)}`}
        more=${unknown > 0 && `unknown for ${counted(unknown, 'attempt')}`}
      />
      <${Figure}
        title=${`Margin ${currency}`}
        value=${`${isPartial ? 'at most ' : ''}${roundMoney(margin)}`}
        more=${margin !== null && shareOf(margin, { revenue: Number(charged) - Number(refunded), isPartial })}
      />
      <${Figure}
        title="Tasks"
        value=${data.reduce((count, row) => count + row.tasks, 0).toLocaleString('en')}
      />
    </div>
    ${by === 'day' && data.length > 0 && html`<${Days} data=${data} days=${everyDay(from, to)} currency=${currency} />`}
    <${Table}
      key=${by}
      label="Money"
      rows=${data.slice(0, rowsShown)}
      keyOf=${(/** @type {Row} */ row) => row[by] ?? ''}
      columns=${columnsOf(data, { by, currency })}
      empty="No tasks ended in this period."
    />
    ${data.length > rowsShown && html`<p class="soft">The ${rowsShown} lowest margins of ${data.length.toLocaleString('en')}. The CSV has all.</p>`}`;
}

/** @param {string} margin @param {{ revenue: number, isPartial: boolean }} of */
function shareOf(margin, { revenue, isPartial }) {
  return (
    revenue > 0 &&
    `${isPartial ? 'at most ' : ''}${((Number(margin) / revenue) * 100).toFixed(1)} % of the charges`
  );
}

const nothing = { charged: '0', refunded: '0', cost: '0', cost_unknown: 0, margin: '0' };

/**
 * Stacks each day's margin on its cost. If the cost exceeds the revenue, the excess is red. If the cost is unknown, the
 * bar is only an outline.
 *
 * @param {{ data: readonly Row[], days: readonly string[], currency: string }} props
 */
function Days({ data, days, currency }) {
  const byDay = new Map(data.map((row) => [row.day, row]));
  const heights = data.map((row) => Math.max(Number(row.charged) - Number(row.refunded), Number(row.cost)));
  return html`<${BarChart}
    label="Cost below margin"
    top=${`${money(Math.max(...heights, 0).toFixed(6))} ${currency} at most`}
    from=${days[0] ?? ''}
    to=${days.at(-1) ?? ''}
    bars=${days.map((day) => {
      const row = byDay.get(day) ?? nothing;
      const { charged, refunded } = row;
      const [cost, margin] = [knownAmount(row, 'cost'), knownAmount(row, 'margin')];
      const [revenue, spent] = [Number(charged) - Number(refunded), Number(cost)];
      if (cost === null) {
        const title = `${day}: charged ${money(charged)} ${currency}, cost and margin not known`;
        return { title, parts: [{ tone: 'unknown', value: revenue }] };
      }
      return {
        title: `${day}: charged ${money(charged)}, cost ${money(cost)}, margin ${money(margin)} ${currency}`,
        parts: [
          { tone: 'rest', value: Math.min(spent, Math.max(0, revenue)) },
          { tone: 'main', value: revenue - spent },
          { tone: 'bad', value: spent - Math.max(0, revenue) },
        ],
      };
    })}
  />`;
}

/**
 * @param {readonly Row[]} data
 * @param {{ by: Group, currency: string }} asked
 * @returns {readonly import('../shared/table.js').Column<Row>[]}
 */
function columnsOf(data, { by, currency }) {
  const title = groups.find(([name]) => name === by)?.[1] ?? '';
  const most = Math.max(...data.map(({ charged }) => Number(charged)), 0);
  /** @type {readonly import('../shared/table.js').Column<Row>[]} */
  const all = [
    { title, cell: (row) => html`<${Name} by=${by} name=${row[by]} />`, by: (row) => row[by] ?? '' },
    { title: `Charged ${currency}`, money: ({ charged }) => charged, by: ({ charged }) => Number(charged) },
    { title: 'Share', cell: ({ charged }) => html`<${Share} of=${Number(charged)} most=${most} />` },
    {
      title: `Refunded ${currency}`,
      money: ({ refunded }) => refunded,
      by: ({ refunded }) => Number(refunded),
    },
    { title: `Cost ${currency}`, money: (row) => knownAmount(row, 'cost'), by: ({ cost }) => Number(cost) },
    {
      title: 'Cost not known',
      isNumber: true,
      cell: (row) => row.cost_unknown.toLocaleString('en'),
      by: (row) => row.cost_unknown,
    },
    {
      title: `Margin ${currency}`,
      money: (row) => knownAmount(row, 'margin'),
      by: ({ margin }) => Number(margin),
    },
    {
      title: 'Tasks',
      isNumber: true,
      cell: ({ tasks }) => tasks.toLocaleString('en'),
      by: ({ tasks }) => tasks,
    },
  ];
  return by === 'day' ? all.filter((column) => column.title !== 'Share') : all;
}

/** Labels for rows without a name. @type {Record<Group, string>} */
const unnamed = {
  day: '',
  channel: 'nothing submitted',
  model: 'no model',
  account: '',
  key: 'nothing held',
  end_user: 'not named',
};

/** @param {{ by: Group, name: string | null | undefined }} props */
function Name({ by, name }) {
  if (name === null || name === undefined) return html`<span class="soft">${unnamed[by]}</span>`;
  if (by === 'account') return html`<a href=${linkTo(['accounts', name])}>${name}</a>`;
  if (by === 'day' || by === 'end_user') return name;
  return html`<a href=${linkTo(['tasks'], { [by]: name })}>${name}</a>`;
}
