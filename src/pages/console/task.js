import { Callback } from '../shared/callback.js';
import { Copy } from '../shared/copy.js';
import { dateTime, money, movement, offset, outgoing, shortAmounts } from '../shared/format.js';
import { useLive, useVersions } from '../shared/live.js';
import { Facts, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Act } from './act.js';
import { actNamed } from './act-fields.js';
import { Attempts } from './attempts.js';
import { HealthList } from './health.js';
import { useKeys } from './keyboard.js';
import { LedgerTable } from './ledger-table.js';
import { backToTasks } from './router.js';
import { Results } from './results.js';
import { Sentence } from './sentence.js';
import { TaskFacts } from './task-facts.js';
import { TaskPrice } from './task-price.js';
import { SealedRequest } from './task-request.js';
import { Similar } from './similar-task.js';
import { amountOf, TaskState } from './task-state.js';

/** @typedef {import('./types.d.ts').TaskDetail} TaskDetail */
/** @typedef {import('./types.d.ts').FlightRecord} FlightRecord */
/** @typedef {import('./act-fields.js').ActionName} ActionName */

const tickMs = 3_000;

/** @param {import('./types.d.ts').PageProps & { id: string }} props */
export function TaskPage({ api, may, currency, workflowsUrl, id }) {
  const path = `/admin/v1/tasks/${encodeURIComponent(id)}`;
  /** @type {import('../shared/live.js').Live<TaskDetail>} */
  const live = useLive(path, (signal) => api.get(path, signal), tickMs);
  const task = live.data;
  const version = task && versionOf(task);
  /** @type {import('../shared/live.js').Live<FlightRecord>} */
  const record = useVersions(`${path}/record`, version, (signal) => api.get(`${path}/record`, signal));
  const [action, setAction] = useState(/** @type {ActionName | undefined} */ (undefined));
  useKeys({ a: focusActs });
  const place = html`<${Place} id=${id} />`;
  if (task === undefined) return html`<main>${place}<${LiveState} live=${live} /></main>`;
  const { amount, word } = amountOf(task);
  return html`<main>
    ${place}
    <div class="row apart head">
      <h1>
        ${may('amounts') && html`${money(amount)} ${currency} <span class="soft">${word}</span>`}
        <${TaskState} task=${task} full />
      </h1>
      <span class="soft"><${Time} at=${task.created_at} exact /></span>
    </div>
    <${LiveState} live=${live} />
    <${Situation} task=${task} may=${may} currency=${currency} onAct=${setAction} />
    <div class="columns">
      <section class="wider">
        <h2>Timeline</h2>
        <${LiveState} live=${record} />
        ${record.data && html`<${Timeline} events=${record.data.events} />`}
        ${may('amounts') && html`<${TaskMoney} api=${api} task=${task} path=${path} version=${version} currency=${currency} />`}
        <h2>Attempts</h2>
        <${Attempts} attempts=${task.attempts} />
        ${task.status !== 'succeeded' && html`<${Similar} api=${api} task=${task} currency=${currency} />`}
        ${task.callback && html`<${Callback} delivery=${task.callback} />`}
        ${record.data && html`<${Technical} record=${record.data} />`}
      </section>
      <section>
        <h2>Result</h2>
        <${Results} task=${task} />
        <h2>Facts</h2>
        <${TaskFacts} task=${task} currency=${currency} workflowsUrl=${workflowsUrl} />
        ${may('getTaskRequest') && html`<${SealedRequest} api=${api} path=${path} />`}
      </section>
    </div>
    ${
      action &&
      html`<${Act}
        api=${api}
        tasks=${[task]}
        action=${action}
        currency=${currency}
        onClose=${() => setAction(undefined)}
        onDone=${() => {
          setAction(undefined);
          void live.refresh();
        }}
      />`
    }
  </main>`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, task: TaskDetail, path: string, version: string, currency: string,
 * }} props
 */
function TaskMoney({ task: { ledger }, currency, ...props }) {
  return html`<h2>Ledger</h2>
    <${LedgerTable} entries=${ledger} currency=${currency} />
    <${TaskPrice} ...${props} currency=${currency} />`;
}

/** @param {{ id: string }} props */
function Place({ id }) {
  return html`<p class="small">
    <a href=${backToTasks()}>Tasks</a> / <span class="mono">${id}</span> <${Copy} text=${id} what="the id" />
  </p>`;
}

function focusActs() {
  /** @type {HTMLElement | null} */
  const first = document.querySelector('.acts button');
  first?.focus();
}

function versionOf(/** @type {TaskDetail} */ { updated_at: at, attempts, ledger, actions, callback }) {
  return [
    at,
    attempts.length,
    ledger.length,
    actions.length,
    callback?.attempts.length,
    callback?.state,
  ].join(' ');
}

/**
 * @param {{ task: TaskDetail, may: (word: string) => boolean, currency: string, onAct: (name: ActionName) => void }} props
 */
function Situation({ task: { situation, waiting, health }, may, currency, onAct }) {
  const { name: state, what, advice, attention, marker, where, since, until } = situation;
  const { charge, charge_per_hold: times } = situation;
  // The rest of the page already shows how and when the task ended.
  const isOver = state === 'ended';
  const actions = situation.actions.filter(({ access }) => may(access));
  if (isOver && attention === null && actions.length === 0) return null;
  return html`<section class=${`notice situation ${attention === null ? '' : 'warn'}`} aria-label="Situation">
    ${!isOver && html`<p class="lead"><${Sentence} text=${what} /></p>`}
    <${HealthList} channels=${health} />
    ${advice && html`<p><${Sentence} text=${advice} /></p>`}
    <${Facts}
      rows=${[
        ['Since', isOver ? '' : html`<${Time} at=${since} exact />`],
        ['Until', until && html`<${Time} at=${until} exact />`],
        ['Where to look', where && `${where.channel}, credential ${where.credential}`],
        ['Marker to look for', marker && html`<span class="mono">${marker}</span>`],
        ['Charge to decide on', charge && `${outgoing(charge)} ${currency}`],
        [
          'Review factor',
          times &&
            `${times} times the hold. An operator must decide if this exceeds review_above in the model’s price.`,
        ],
        ['Last error', waiting?.last_error],
        ['Next try', waiting?.next_at && html`<${Time} at=${waiting.next_at} />`],
        ['Polls', waiting?.polls],
      ]}
    />
    ${
      actions.length > 0 &&
      html`<div class="row acts">
        ${actions.map(
          ({ name, access: _access, unpaid_jobs: _jobs, ...sums }, index) =>
            html`<button
              class=${classOf(name, index === 0 && attention !== null)}
              onClick=${() => onAct(name)}
            >
              ${actNamed(name).title}${effect(sums)}
            </button>`,
        )}
      </div>`
    }
  </section>`;
}

/** @param {ActionName} name @param {boolean} isAdvised */
function classOf(name, isAdvised) {
  const { bills, ends } = actNamed(name);
  if (bills === 'twice') return 'risky';
  return ends ? 'destructive' : isAdvised ? 'main' : '';
}

function effect(/** @type {{ charged: string | null, released: string | null, refunded: string }} */ sums) {
  const parts = Object.entries(sums).flatMap(([name, amount]) =>
    typeof amount === 'string' && /^[\d.]+$/.test(amount) && /[1-9]/.test(amount)
      ? [`${name === 'charged' ? outgoing(amount) : movement(amount)} ${name}`]
      : [],
  );
  return parts.length === 0 ? '' : html`<span class="small"> ${parts.join(', ')}</span>`;
}

/** @param {{ events: FlightRecord['events'] }} props */
function Timeline({ events }) {
  const start = events[0]?.at ?? 0;
  return html`<ol class="timeline">
    ${events.map(
      ({ at, what, text }) =>
        html`<li class=${what}>
          <span class="small soft">${dateTime(at)}</span>
          <span class="small soft number">${offset(at - start)}</span>
          <span class="badge">${what}</span>
          <span>${shortAmounts(text)}</span>
        </li>`,
    )}
  </ol>`;
}

/** @param {{ record: FlightRecord }} props */
function Technical({ record }) {
  return html`<details>
    <summary>Redacted request and exchanges</summary>
    ${
      record.request &&
      html`<h3 class="small">Request, without what its caller wrote</h3>
        <pre tabindex="0">${record.request}</pre>`
    }
    <h3 class="small">Exchanges with upstreams, redacted</h3>
    <pre tabindex="0">${JSON.stringify(record.calls, null, 2)}</pre>
  </details>`;
}
