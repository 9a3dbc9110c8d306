import { errorOf } from '../shared/api.js';
import { Dialog } from '../shared/dialog.js';
import { counted, money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Facts, LiveState, Refusal, Time } from '../shared/parts.js';
import { Alerts } from './alert.js';
import { html, useState } from '../shared/preact.js';
import { Secret } from '../shared/secret.js';
import { Table } from '../shared/table.js';

/**
 * @typedef {{
 *   used: string, charged: string, held: string, limit: string | null, left: string | null, reached: number | null,
 *   resets_at?: number,
 * }} Use
 * @typedef {{ day: Use, month: Use, total: Use }} Spent
 * @typedef {{
 *   id: string, account: string, currency: string, requests_per_minute: number | null, concurrent_tasks: number | null,
 *   spent: Spent, models: readonly { model: string, spent: Spent }[],
 *   projection: { projected: string | null, complete_days: number, ends_at: number },
 * }} Key
 */

const liveMs = 30_000;

/** @param {{ api: import('../shared/api.js').Api }} props */
export function KeyPage({ api }) {
  /** @type {import('../shared/live.js').Live<Key>} */
  const live = useLive('/v1/key', (signal) => api.get('/v1/key', signal), liveMs);
  const key = live.data;
  return html`<main class="page">
    <h1>Key</h1>
    <${LiveState} live=${live} />
    ${
      key &&
      html`<${Facts}
          rows=${[
            ['Key', html`<span class="mono">${key.id}</span>`],
            ['Account', html`<span class="mono">${key.account}</span>`],
            ['Requests per minute', key.requests_per_minute ?? 'no limit'],
            ['Unfinished tasks', key.concurrent_tasks ?? 'no limit'],
          ]}
        />
        <h2>This month</h2>
        <${Month} shown=${key} />
        <h2>Caps</h2>
        <${Caps} shown=${key} />
        <${Alerts} api=${api} currency=${key.currency} />`
    }
    <${WebhookSecret} api=${api} />
  </main>`;
}

/** @param {Use} use */
function usedSum({ charged, held }) {
  return `${money(charged)} charged + ${money(held)} held for unfinished tasks`;
}

/** @param {{ shown: Key }} props */
function Month({ shown: { projection, spent, currency } }) {
  const { projected, complete_days: days, ends_at: end } = projection;
  return html`<${Facts}
    rows=${[
      ['Used', `${money(spent.month.used)} ${currency}: ${usedSum(spent.month)}`],
      [
        'Projected',
        projected === null
          ? 'Not known until three days (UTC) are complete.'
          : `${money(projected)} ${currency}, if each remaining day is charged the average of ${counted(days, 'complete day')}`,
      ],
      ['Ends', html`<${Time} at=${end} />`],
    ]}
  />`;
}

const windows = /** @type {const} */ ([
  ['day', 'day'],
  ['month', 'month'],
  ['total', 'total'],
]);

/** @param {{ shown: Key }} props */
function Caps({ shown: { spent, models, currency } }) {
  const scopes = [{ model: 'all models', spent }, ...models];
  const rows = scopes.flatMap(({ model, spent: uses }) =>
    windows.map(([name, title]) => ({ ...uses[name], key: `${model} ${name}`, model, title })),
  );
  /** @typedef {(typeof rows)[number]} Row */
  /** @type {readonly import('../shared/table.js').Column<Row>[]} */
  const columns = [
    { title: 'Models', cell: ({ model }) => model },
    { title: 'Period', cell: ({ title }) => title },
    { title: `Charged ${currency}`, money: ({ charged }) => charged },
    { title: `Held ${currency}`, money: ({ held }) => held },
    { title: `Used ${currency}`, money: ({ used }) => used },
    { title: `Cap ${currency}`, money: ({ limit }) => limit },
    { title: `Left ${currency}`, money: ({ left }) => left },
    {
      title: 'Reached',
      isNumber: true,
      cell: ({ reached }) => (reached === null ? '' : `${reached} %`),
    },
    { title: 'Resets', cell: ({ resets_at: at }) => html`<${Time} at=${at} />` },
  ];
  return html`<${Table}
    label="Caps"
    columns=${columns}
    rows=${rows}
    keyOf=${(/** @type {Row} */ { key }) => key}
    empty="No caps."
  />`;
}

/** @param {{ api: import('../shared/api.js').Api }} props */
function WebhookSecret({ api }) {
  const [isOpen, setOpen] = useState(false);
  return html`<h2>Webhook secret</h2>
    <p>It signs the callbacks of the whole account. <a href="docs/callbacks">How to verify them</a></p>
    <p><button onClick=${() => setOpen(true)}>Replace the secret</button></p>
    ${isOpen && html`<${Replacement} api=${api} onClose=${() => setOpen(false)} />`}`;
}

/** @param {{ api: import('../shared/api.js').Api, onClose: () => void }} props */
function Replacement({ api, onClose }) {
  const [secret, setSecret] = useState('');
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  async function replace() {
    setBusy(true);
    try {
      /** @type {{ webhook_secret: string }} */
      const answer = await api.post('/v1/webhook-secret/rotate', {});
      setSecret(answer.webhook_secret);
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
    }
  }

  if (secret !== '')
    return html`<${Secret}
      title="The new webhook secret"
      secret=${secret}
      note="Your server needs it to verify callbacks."
      onClose=${onClose}
    />`;
  return html`<${Dialog} title="Replace the webhook secret" onClose=${onClose}>
    <p>
      Callbacks are signed with the new secret and the two before it. One valid signature is enough. Each
      replacement invalidates the oldest of the three.
    </p>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <p class="row ends"><button class="main" disabled=${isBusy} onClick=${replace}>Replace it</button></p>
  <//>`;
}
