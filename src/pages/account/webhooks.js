import { errorOf } from '../shared/api.js';
import { Choice } from '../shared/choice.js';
import { answerOf } from '../shared/delivery.js';
import { hold } from '../shared/dialog.js';
import { counted, words } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Refusal, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { actionsColumn, Table } from '../shared/table.js';

/**
 * @typedef {{ task_id: string, kind: string, delivery: import('../shared/callback.js').Delivery }} Logged
 * @typedef {{ data: readonly Logged[], has_more: boolean }} Page
 * @typedef {{ status: number | null, error: string | null, duration_ms: number }} Tried
 */

const path = '/v1/callbacks';
const liveMs = 5_000;
const pageSize = 20;

const states = [
  ['', 'All'],
  ['delivered', 'Delivered'],
  ['pending', 'Failed so far'],
  ['gave_up', 'Abandoned'],
];

/** @type {Record<string, import('../shared/parts.js').Tone>} */
const tones = { delivered: 'good', pending: 'warn', gave_up: 'bad' };

/** @param {{ api: import('../shared/api.js').Api }} props */
export function WebhooksPage({ api }) {
  const [state, setState] = useState('');
  const [after, setAfter] = useState('');
  const page = withQuery(path, { limit: pageSize, state, after });
  /** @type {import('../shared/live.js').Live<Page>} */
  const live = useLive(page, (signal) => api.get(page, signal), liveMs);
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const rows = live.data?.data ?? [];

  /** @param {string} id */
  async function redeliver(id) {
    try {
      await api.post(`${path}/${id}/redeliver`, {});
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    await live.refresh();
  }

  return html`<main class="page">
    <h1>Webhooks</h1>
    <${Test} api=${api} />
    <h2>Deliveries, newest task first</h2>
    <div class="row filters">
      <${Choice}
        label="State"
        value=${state}
        options=${states}
        onChange=${(/** @type {string} */ chosen) => {
          setState(chosen);
          setAfter('');
        }}
      />
    </div>
    <${LiveState} live=${live} />
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${
      live.data &&
      html`<${Table}
        label="Deliveries"
        columns=${columnsOf(redeliver)}
        rows=${rows}
        keyOf=${(/** @type {Logged} */ { task_id: id }) => id}
        empty="Nothing was sent. A task has a callback if its request contains callback_url."
      />`
    }
    <p class="row ends">
      ${after !== '' && html`<button onClick=${() => setAfter('')}>Newest</button>`}
      ${live.data?.has_more === true && html`<button onClick=${() => setAfter(rows.at(-1)?.task_id ?? '')}>Older</button>`}
    </p>
  </main>`;
}

/** @param {(id: string) => void} redeliver */
function columnsOf(redeliver) {
  return [
    {
      title: 'Task',
      cell: (/** @type {Logged} */ { task_id: id, kind }) =>
        html`<a class="mono" href=${`#/tasks/${kind}/${id}`}>${id}</a>`,
    },
    {
      title: 'State',
      cell: (/** @type {Logged} */ { delivery: { state } }) =>
        html`<${Badge} tone=${tones[state] ?? 'idle'} word=${words(state)} />`,
    },
    { title: 'Sent to', cell: (/** @type {Logged} */ { delivery: { target } }) => target },
    { title: 'Last response', cell: (/** @type {Logged} */ { delivery }) => lastOf(delivery) },
    actionsColumn(
      (/** @type {Logged} */ { task_id: id }) =>
        html`<button aria-label=${`Send again: callback of ${id}`} onClick=${() => redeliver(id)}>
          Send again
        </button>`,
    ),
  ];
}

/** @param {import('../shared/callback.js').Delivery} delivery */
function lastOf({ attempts }) {
  const last = attempts.at(-1);
  if (last === undefined) return 'none yet';
  return html`${answerOf(last)}, <${Time} at=${last.at} />
    <span class="soft">${attempts.length > 1 && `, ${counted(attempts.length, 'attempt')}`}</span>`;
}

/** @param {{ api: import('../shared/api.js').Api }} props */
function Test({ api }) {
  const [url, setUrl] = useState('');
  const [tried, setTried] = useState(/** @type {Tried | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  /** @param {MouseEvent & { currentTarget: HTMLButtonElement }} event */
  async function send(event) {
    if (event.currentTarget.form?.reportValidity() === false) return;
    setBusy(true);
    setTried(undefined);
    try {
      /** @type {Tried} */
      const answer = await api.post(`${path}/test`, { url: url.trim() });
      setTried(answer);
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
  }

  return html`<form onSubmit=${hold}>
    <label class="field">
      Send a signed test event to this address
      <input
        type="url"
        required
        placeholder="https://…"
        value=${url}
        onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setUrl(event.currentTarget.value)}
      />
    </label>
    <p><button type="button" class="main" disabled=${isBusy} onClick=${send}>Send a test event</button></p>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${tried && html`<p class=${`notice ${isAccepted(tried) ? 'good' : 'warn'}`} role="status">${outcomeOf(tried)}</p>`}
  </form>`;
}

/** @param {Tried} tried */
function isAccepted({ status }) {
  return status !== null && status >= 200 && status < 300;
}

/** @param {Tried} tried */
function outcomeOf(tried) {
  const took = `after ${tried.duration_ms} ms`;
  if (tried.status === null) return `There was no response ${took} (${answerOf(tried)}).`;
  return isAccepted(tried)
    ? `Your server accepted the event with ${tried.status} ${took}.`
    : `Your server responded with ${tried.status} ${took}. A callback is delivered only if the status is 2xx.`;
}
