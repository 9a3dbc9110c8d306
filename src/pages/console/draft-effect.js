import { errorOf } from '../shared/api.js';
import { Facts, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';

/**
 * @typedef {{ account: string | null, tasks: number, before: string, after: string, difference: string }} Payer
 * @typedef {{
 *   tasks: number, before: string, after: string, difference: string, margin_before: string, margin_after: string,
 *   unpriced: number, by_account: readonly Payer[],
 * }} Tried
 */

const days = 7;
const secondsPerDay = 86_400;
const answerMs = 600_000;

/** @param {{ api: import('./types.d.ts').Api }} props */
export function Effect({ api }) {
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

  return html`<h2>What it would have charged</h2>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${
      tried === undefined
        ? html`<button disabled=${isBusy} onClick=${() => void run()}>Try the last ${days} days</button>`
        : html`<${Facts}
              rows=${[
                ['Tasks', String(tried.tasks)],
                ['Charged', `${tried.before}; with the draft ${tried.after}`],
                ['Difference', tried.difference],
                ['Margin', `${tried.margin_before}; with the draft ${tried.margin_after}`],
                ['Not priced', String(tried.unpriced)],
              ]}
            />
            <h3>Who would have paid more or less</h3>
            <${Table}
              label="Accounts"
              columns=${columns}
              rows=${tried.by_account}
              keyOf=${nameOf}
              empty="No account had a task in these days."
            />`
    }`;
}

/**
 * Returns the result from the last line. During long operations, the gateway sends progress as earlier lines of JSON.
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

/** The gateway combines all accounts beyond the first few into one row without a name. @param {Payer} payer */
function nameOf({ account }) {
  return account ?? 'all others';
}

/** @type {readonly import('../shared/table.js').Column<Payer>[]} */
const columns = [
  { title: 'Account', cell: nameOf },
  { title: 'Tasks', isNumber: true, cell: ({ tasks }) => tasks, by: ({ tasks }) => tasks },
  { title: 'Charged', money: ({ before }) => before },
  { title: 'With the draft', money: ({ after }) => after },
  {
    title: 'Difference',
    movement: ({ difference }) => difference,
    by: ({ difference }) => Number(difference),
  },
];
