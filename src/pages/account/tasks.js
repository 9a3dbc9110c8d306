/** The question: what did I make, and what did it cost? */
import { errorOf } from '../shared/api.js';
import { money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal, Time } from '../shared/parts.js';
import { html, useEffect, useRef, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { Thumbnail } from './media.js';
import { TaskState, tasksPath } from './task-state.js';

/** @typedef {import('./types.js').Task} Task */

const liveMs = 5_000;
const pageSize = 24;

/** @param {{ api: import('../shared/api.js').Api, balance: import('../shared/live.js').Live<import('./types.js').Balance> }} props */
export function Tasks({ api, balance }) {
  const [kind, setKind] = useState('video');
  const [status, setStatus] = useState('');
  const [isList, setList] = useState(false);
  const wanted = status === '' ? '' : `&status=${status}`;
  const path = `${tasksPath(kind)}?limit=${pageSize}${wanted}`;
  /** @type {import('../shared/live.js').Live<{ data: Task[], has_more: boolean }>} */
  const live = useLive(path, (signal) => api.get(path, signal), liveMs);
  const [older, setOlder] = useState({ path, tasks: /** @type {Task[]} */ ([]), hasMore: true });
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const page = live.data?.data ?? [];
  const more = older.path === path ? older : { path, tasks: [], hasMore: live.data?.has_more ?? false };
  const seen = new Set(page.map(({ id }) => id));
  const tasks = [...page, ...more.tasks.filter(({ id }) => !seen.has(id))];
  const hasMore = more.tasks.length === 0 ? (live.data?.has_more ?? false) : more.hasMore;

  // What changes a state changes what is held: within the same list, after its first response.
  const standing = page.map(({ id, status: state }) => `${id} ${state}`).join();
  const before = useRef({ path: '', standing });
  useEffect(() => {
    if (before.current.path === path && before.current.standing !== standing) balance.refresh();
    if (live.data !== undefined) before.current = { path, standing };
  }, [path, standing, live.data === undefined]);

  async function load() {
    try {
      /** @type {{ data: Task[], has_more: boolean }} */
      const next = await api.get(`${path}&after=${tasks.at(-1)?.id}`);
      setOlder({ path, tasks: [...more.tasks, ...next.data], hasMore: next.has_more });
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  const currency = balance.data?.currency ?? '';
  return html`<main class="page">
    <h1>Tasks</h1>
    <${Figures} balance=${balance.data} />
    <div class="filters row apart">
      <div class="row">
        <${Choice}
          label="Kind"
          value=${kind}
          onChoose=${setKind}
          options=${[
            ['video', 'Videos'],
            ['image', 'Images'],
          ]}
        />
        <${Choice} label="State" value=${status} onChoose=${setStatus} options=${states} />
      </div>
      <div class="row" role="group" aria-label="Show as">
        <button aria-pressed=${!isList} onClick=${() => setList(false)}>Gallery</button>
        <button aria-pressed=${isList} onClick=${() => setList(true)}>List</button>
      </div>
    </div>
    <${LiveState} live=${live} />
    ${live.data !== undefined && tasks.length === 0 && html`<p class="soft">No ${kind} tasks${status === '' ? ' yet' : ` that are ${status}`}. <a href="#/playground">Make one in the playground</a>.</p>`}
    ${tasks.length > 0 && (isList ? html`<${List} tasks=${tasks} kind=${kind} currency=${currency} />` : html`<${Gallery} tasks=${tasks} kind=${kind} currency=${currency} />`)}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${hasMore && html`<p class="ends row"><button onClick=${load}>Older tasks</button></p>`}
  </main>`;
}

const states = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['submitted', 'Submitted'],
  ['running', 'Running'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
];

/** @param {{ balance: import('./types.js').Balance | undefined }} props */
function Figures({ balance }) {
  const { available, held, currency } = balance ?? { available: null, held: null, currency: '' };
  return html`<dl class="figures">
    <div>
      <dt>Available</dt>
      <dd>${money(available)} <span>${currency}</span></dd>
    </div>
    <div>
      <dt>Held for unfinished tasks</dt>
      <dd>${money(held)} <span>${currency}</span></dd>
    </div>
  </dl>`;
}

/**
 * @param {{ label: string, value: string, onChoose: (value: string) => void, options: readonly (readonly string[])[] }} props
 */
function Choice({ label, value, onChoose, options }) {
  return html`<label>
    ${label}
    <select
      value=${value}
      onChange=${(/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => onChoose(event.currentTarget.value)}
    >
      ${options.map(([name, title]) => html`<option value=${name} selected=${name === value}>${title}</option>`)}
    </select>
  </label>`;
}

/** @param {{ tasks: readonly Task[], kind: string, currency: string }} props */
function Gallery({ tasks, kind, currency }) {
  return html`<ul class="gallery">
    ${tasks.map(
      (task) =>
        html`<li key=${task.id}>
          <a href=${`#/tasks/${kind}/${task.id}`}>
            <div class="frame"><${Thumbnail} task=${task} /></div>
            <div class="row apart"><span>${task.model}</span><${TaskState} task=${task} /></div>
            <div class="row apart small soft">
              <span><${Time} at=${task.created_at} /></span><span>${costOf(task)} ${currency}</span>
            </div>
          </a>
        </li>`,
    )}
  </ul>`;
}

/** @param {{ tasks: readonly Task[], kind: string, currency: string }} props */
function List({ tasks, kind, currency }) {
  /** @type {readonly import('../shared/table.js').Column<Task>[]} */
  const columns = [
    {
      title: 'Task',
      cell: (/** @type {Task} */ { id }) => html`<a class="mono" href=${`#/tasks/${kind}/${id}`}>${id}</a>`,
    },
    { title: 'State', cell: (/** @type {Task} */ task) => html`<${TaskState} task=${task} />` },
    { title: 'Model', cell: (/** @type {Task} */ { model }) => model },
    {
      title: `Charged ${currency}`,
      money: ({ charge, status }) => charge ?? (status === 'failed' ? '0' : null),
    },
    {
      title: `Expected ${currency}`,
      money: ({ charge, estimate }) => (charge === undefined ? (estimate ?? null) : null),
    },
    {
      title: 'Created',
      isNumber: true,
      cell: (/** @type {Task} */ { created_at: at }) => html`<${Time} at=${at} />`,
    },
  ];
  return html`<${Table}
    label="Tasks"
    columns=${columns}
    rows=${tasks}
    keyOf=${(/** @type {Task} */ { id }) => id}
    empty="No tasks."
    onOpen=${(/** @type {Task} */ { id }) => (location.hash = `#/tasks/${kind}/${id}`)}
  />`;
}

/** @param {Task} task */
function costOf({ charge, estimate, status }) {
  if (charge !== undefined) return money(charge);
  if (estimate !== undefined) return `≈ ${money(estimate)}`;
  return status === 'failed' ? money('0') : '–';
}
