import { errorOf } from '../shared/api.js';
import { Dialog, hold } from '../shared/dialog.js';
import { counted, money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';

/** @typedef {{ threshold: string | null, caps: boolean, url: string | null, undelivered: number }} Alert */
/** @typedef {Event & { currentTarget: HTMLInputElement }} Changed */

const path = '/v1/alert';

/** @param {{ api: import('../shared/api.js').Api, currency: string }} props */
export function Alerts({ api, currency }) {
  const [isOpen, setOpen] = useState(false);
  return html`<h2>Alerts</h2>
    <p>An event is posted to you when the balance is low, or when a cap is nearly used up.</p>
    <p><button onClick=${() => setOpen(true)}>Change the alerts</button></p>
    ${isOpen && html`<${AlertDialog} api=${api} currency=${currency} onClose=${() => setOpen(false)} />`}`;
}

/** @param {{ api: import('../shared/api.js').Api, currency: string, onClose: () => void }} props */
function AlertDialog({ api, currency, onClose }) {
  /** @type {import('../shared/live.js').Live<Alert>} */
  const live = useLive(path, (signal) => api.get(path, signal), 0);
  return html`<${Dialog} title="Alerts" onClose=${onClose}>
    <${LiveState} live=${live} />
    ${live.data && html`<${AlertForm} api=${api} currency=${currency} alert=${live.data} onClose=${onClose} />`}
  <//>`;
}

/** @param {{ api: import('../shared/api.js').Api, currency: string, alert: Alert, onClose: () => void }} props */
function AlertForm({ api, currency, alert, onClose }) {
  const [threshold, setThreshold] = useState(alert.threshold === null ? '' : money(alert.threshold));
  const [caps, setCaps] = useState(alert.caps);
  const [url, setUrl] = useState('');
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  /** @param {MouseEvent & { currentTarget: HTMLButtonElement }} event */
  async function save(event) {
    if (event.currentTarget.form?.reportValidity() === false) return;
    const given = { threshold: threshold.replaceAll(',', '').trim(), url: url.trim() };
    const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
    try {
      await api.post(path, { ...body, caps });
      onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  return html`<form onSubmit=${hold}>
    ${alert.undelivered > 0 && html`<p class="notice warn">The address has not accepted ${counted(alert.undelivered, 'event')} yet.</p>`}
    <label class="field">
      When less than this is available, in ${currency}
      <input
        inputmode="decimal"
        pattern="[\\d.,]*"
        placeholder="No event about the balance"
        value=${threshold}
        onInput=${(/** @type {Changed} */ event) => setThreshold(event.currentTarget.value)}
      />
    </label>
    <label class="check field">
      <input
        type="checkbox"
        checked=${caps}
        onChange=${(/** @type {Changed} */ event) => setCaps(event.currentTarget.checked)}
      />
      When a cap is nearly used up
    </label>
    <label class="field">
      Address that receives the events
      ${alert.url !== null && html`<span class="small soft">Currently: ${alert.url}. Enter the full address again, including its query string.</span>`}
      <input
        type="url"
        placeholder="https://…"
        value=${url}
        onInput=${(/** @type {Changed} */ event) => setUrl(event.currentTarget.value)}
      />
    </label>
    <p class="small soft">
      Events are signed with the webhook secret. If you set neither a limit nor caps, no more events are
      posted.
    </p>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <p class="row ends"><button class="main" type="button" onClick=${save}>Save</button></p>
  </form>`;
}
