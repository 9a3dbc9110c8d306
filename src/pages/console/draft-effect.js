import { errorOf } from '../shared/api.js';
import { counted, money, movement, placesOf } from '../shared/format.js';
import { Facts, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { knownAmount } from './known-cost.js';

/**
 * @typedef {{
 *   tasks: number, before: string, after: string, difference: string, cost: string, cost_unknown: number,
 *   margin_before: string, margin_after: string, unpriced: number,
 * }} Sums
 * @typedef {Sums & { account: string | null }} Payer
 * @typedef {Sums & { model: string }} Sold
 * @typedef {Sums & { by_model: readonly Sold[], by_account: readonly Payer[] }} Tried
 */

const days = 7;
const secondsPerDay = 86_400;
const answerMs = 600_000;

/** @param {{ api: import('./types.d.ts').Api, currency: string }} props */
export function Effect({ api, currency }) {
  const [tried, setTried] = useState(/** @type {Tried | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  async function run() {
    setBusy(true);
    setError(undefined);
    try {
      const since = Math.floor(Date.now() / 1000) - days * secondsPerDay;
      setTried(lastLine(await api.post('/admin/v1/prices/try', { since }, { answerMs })));
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
  }

  return html`<h2>What the draft would have charged</h2>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${
      tried === undefined
        ? html`<button disabled=${isBusy} onClick=${() => void run()}>Try the last ${days} days</button>`
        : html`<${Result} tried=${tried} currency=${currency} />`
    }`;
}

/** @param {{ tried: Tried, currency: string }} props */
function Result({ tried, currency }) {
  const { cost, cost_unknown: unknown } = tried;
  const places = placesOf([tried.before, tried.after, tried.margin_before, tried.margin_after]);
  const amount = (/** @type {string} */ value) => `${money(value, places)} ${currency}`;
  const margin = (/** @type {string} */ value) => `${unknown > 0 ? 'at most ' : ''}${amount(value)}`;
  return html`<${Facts}
      rows=${[
        ['Tasks', tried.tasks.toLocaleString('en')],
        ['Charged', `${amount(tried.before)}; with the draft ${amount(tried.after)}`],
        ['Difference', `${movement(tried.difference, places)} ${currency}`],
        ['Upstream cost', costText(cost, { unknown, amount })],
        ['Margin', `${margin(tried.margin_before)}; with the draft ${margin(tried.margin_after)}`],
        ['Not priced', tried.unpriced === 0 ? null : counted(tried.unpriced, 'task')],
      ]}
    />
    <h3>By model</h3>
    <${Table}
      label="Models"
      columns=${[{ title: 'Model', cell: modelOf, by: modelOf }, ...columnsIn(currency)]}
      rows=${tried.by_model}
      keyOf=${modelOf}
      empty="No model had a task on these days."
    />
    <h3>Who would have paid more or less</h3>
    <${Table}
      label="Accounts"
      columns=${[{ title: 'Account', cell: nameOf, by: nameOf }, ...columnsIn(currency)]}
      rows=${tried.by_account}
      keyOf=${nameOf}
      empty="No account had a task on these days."
    />`;
}

/**
 * @param {string} cost
 * @param {{ unknown: number, amount: (value: string) => string }} rest
 */
function costText(cost, { unknown, amount }) {
  if (unknown === 0) return amount(cost);
  const missing = `unknown for ${counted(unknown, 'attempt')}`;
  return Number(cost) === 0 ? missing : `at least ${amount(cost)}, ${missing}`;
}

/**
 * The last line contains the result. During long operations, the gateway first sends progress, one JSON value per line.
 *
 * @param {unknown} answer
 */
function lastLine(answer) {
  const text = typeof answer === 'string' ? answer.trim().split('\n').at(-1) : JSON.stringify(answer);
  /** @type {{ result?: Tried, error?: { message: string } }} */
  const { result, error } = JSON.parse(text ?? '');
  if (error !== undefined) throw new Error(error.message);
  return result;
}

/**
 * The gateway combines all accounts beyond the first few into one row without a name.
 * @param {Payer} payer
 */
function nameOf({ account }) {
  return account ?? 'all others';
}

/** @param {Sold} sold */
function modelOf({ model }) {
  return model;
}

/**
 * @param {string} currency
 * @returns {readonly import('../shared/table.js').Column<Sums>[]}
 */
function columnsIn(currency) {
  return [
    {
      title: 'Tasks',
      isNumber: true,
      cell: ({ tasks }) => tasks.toLocaleString('en'),
      by: ({ tasks }) => tasks,
    },
    { title: `Charged ${currency}`, money: ({ before }) => before, by: ({ before }) => Number(before) },
    { title: 'With the draft', money: ({ after }) => after, by: ({ after }) => Number(after) },
    {
      title: 'Difference',
      movement: ({ difference }) => difference,
      by: ({ difference }) => Number(difference),
    },
    {
      title: 'Cost not known',
      isNumber: true,
      cell: (row) => row.cost_unknown.toLocaleString('en'),
      by: (row) => row.cost_unknown,
    },
    {
      title: 'Margin with the draft',
      money: (row) => knownAmount({ ...row, margin: row.margin_after }, 'margin'),
      by: (row) => Number(row.margin_after),
    },
  ];
}
