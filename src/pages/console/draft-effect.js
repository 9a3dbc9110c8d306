import { errorOf } from '../shared/api.js';
import { Facts, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';

const days = 7;
const secondsPerDay = 86_400;
const answerMs = 600_000;

/**
 * Shows what the draft's prices would have charged for the tasks of the last week.
 *
 * @param {{ api: import('./types.d.ts').Api }} props
 */
export function Effect({ api }) {
  const [tried, setTried] = useState(/** @type {Record<string, string> | undefined} */ (undefined));
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
              ['Tasks', String(tried['tasks'])],
              ['Charged', `${tried['before']}; with the draft ${tried['after']}`],
              ['Difference', tried['difference']],
              ['Margin', `${tried['margin_before']}; with the draft ${tried['margin_after']}`],
              ['Not priced', String(tried['unpriced'])],
            ]}
          />`
    }`;
}

/**
 * Reads the result from the last line: the gateway answers long work with lines of JSON.
 *
 * @param {unknown} answer
 */
function lastLine(answer) {
  const text = typeof answer === 'string' ? answer.trim().split('\n').at(-1) : JSON.stringify(answer);
  /** @type {{ result?: Record<string, string>, error?: { message: string } }} */
  const { result, error } = JSON.parse(text ?? '');
  if (error !== undefined) throw new Error(error.message);
  return result;
}
