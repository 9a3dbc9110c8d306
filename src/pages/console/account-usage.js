import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { periods } from '../shared/periods.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { saveCsv } from '../shared/save.js';
import { Table } from '../shared/table.js';
import { linkTo } from './router.js';

/** @typedef {{ model: string | null, tasks: number, open: number, charged: string, refunded: string }} Row */

const path = '/admin/v1/usage';

/** @param {{ api: import('./types.d.ts').Api, account: string, currency: string }} props */
export function AccountUsage(props) {
  const [isOpen, setOpen] = useState(false);
  return html`<details
    onToggle=${(/** @type {Event & { currentTarget: HTMLDetailsElement }} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>Usage this month</summary>
    ${isOpen && html`<${Opened} ...${props} />`}
  </details>`;
}

/** @param {{ api: import('./types.d.ts').Api, account: string, currency: string }} props */
function Opened({ api, account, currency }) {
  const { from = '', to = '' } = periods(Date.now())['This month'] ?? {};
  const asked = withQuery(path, { account, by: 'model', from, to });
  /** @type {import('../shared/live.js').Live<{ data: readonly Row[] }>} */
  const live = useLive(asked, (signal) => api.get(asked, signal), 0);
  return html`<${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Usage"
        columns=${columnsOf(account, currency)}
        rows=${live.data.data}
        keyOf=${(/** @type {Row} */ { model }) => model ?? ''}
        empty="Nothing was created this month (UTC)."
      />`
    }
    <p>
      <button
        onClick=${() => saveCsv(api, withQuery(path, { account, by: 'day,model,key', from, to }), `usage-${account}`)}
      >
        Save by day, model and key as CSV
      </button>
    </p>`;
}

/**
 * @param {string} account
 * @param {string} currency
 * @returns {readonly import('../shared/table.js').Column<Row>[]}
 */
function columnsOf(account, currency) {
  return [
    {
      title: 'Model',
      cell: ({ model }) =>
        model === null ? '–' : html`<a href=${linkTo(['tasks'], { account, model })}>${model}</a>`,
    },
    { title: 'Tasks', isNumber: true, cell: ({ tasks }) => tasks.toLocaleString('en') },
    { title: 'Unfinished', isNumber: true, cell: ({ open }) => open.toLocaleString('en') },
    { title: `Charged ${currency}`, money: ({ charged }) => charged },
    { title: `Refunded ${currency}`, money: ({ refunded }) => refunded },
  ];
}
