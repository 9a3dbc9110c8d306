import { errorOf } from '../shared/api.js';
import { Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { saveAnswer } from '../shared/save.js';
import { Offers, useAccountOffers } from './offers.js';

const types = { csv: 'text/csv', html: 'text/html' };

/** @param {{ api: import('./types.d.ts').Api }} props */
export function Statements({ api }) {
  const [isPicking, setPicking] = useState(false);
  const accounts = useAccountOffers(api, isPicking);
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  /** @param {SubmitEvent & { currentTarget: HTMLFormElement }} event */
  async function save(event) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (/** @type {string} */ name) => {
      const value = form.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    const [account, month] = [text('account'), text('month')];
    const format = text('format') === 'html' ? 'html' : 'csv';
    const path = `/admin/v1/accounts/${encodeURIComponent(account)}/statement`;
    try {
      await saveAnswer(api, withQuery(path, { month, format }), {
        name: `statement-${account}-${month}.${format}`,
        type: types[format],
      });
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  return html`<h2>Statements</h2>
    <form class="row fields statements" onSubmit=${save}>
      <label class="field"
        ><span class="small soft">Account</span
        ><input
          name="account"
          required
          size="16"
          autocomplete="off"
          list="statement-accounts"
          onFocus=${() => setPicking(true)}
      /></label>
      <${Offers} id="statement-accounts" offers=${accounts} />
      <label class="field">
        <span class="small soft">Month</span>
        <input
          name="month"
          required
          pattern="\\d{4}-\\d\\d"
          size="9"
          defaultValue=${new Date().toISOString().slice(0, 7)}
        />
      </label>
      <label class="field">
        <span class="small soft">Format</span>
        <select name="format">
          ${Object.keys(types).map((name) => html`<option value=${name}>${name.toUpperCase()}</option>`)}
        </select>
      </label>
      <button>Save</button>
    </form>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}`;
}
