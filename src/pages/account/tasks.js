import { errorOf } from '../shared/api.js';
import { money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useEffect, useRef, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { useSelection } from '../shared/selection.js';
import { Downloads } from './downloads.js';
import { Gallery, List } from './gallery.js';
import { TaskFilters, unfiltered } from './task-filters.js';
import { tasksPath } from './task-state.js';

/** @typedef {import('./types.js').Task} Task */
/** @typedef {{ data: Task[], has_more: boolean, prompts?: Record<string, string> }} Page */

const liveMs = 5_000;
const pageSize = 24;

/** @param {{ api: import('../shared/api.js').Api, balance: import('../shared/live.js').Live<import('./types.js').Balance> }} props */
export function Tasks({ api, balance }) {
  const [filter, setFilter] = useState(unfiltered);
  const [isList, setList] = useState(false);
  const { kind, ...wanted } = filter;
  const path = withQuery(tasksPath(kind), { limit: pageSize, include: 'prompts', ...queryOf(wanted) });
  /** @type {import('../shared/live.js').Live<Page>} */
  const live = useLive(path, (signal) => api.get(path, signal), liveMs);
  const [older, setOlder] = useState({ path, tasks: /** @type {Task[]} */ ([]), prompts: {}, hasMore: true });
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const page = live.data?.data ?? [];
  const more =
    older.path === path ? older : { path, tasks: [], prompts: {}, hasMore: live.data?.has_more ?? false };
  const seen = new Set(page.map(({ id }) => id));
  const tasks = [...page, ...more.tasks.filter(({ id }) => !seen.has(id))];
  const hasMore = more.tasks.length === 0 ? (live.data?.has_more ?? false) : more.hasMore;

  const selection = useSelection(path, tasks);

  // A task's new state may have changed its hold, so refresh the balance. Compare only states from the same list, and
  // only after its first response.
  const standing = page.map(({ id, status: state }) => `${id} ${state}`).join();
  const before = useRef({ path: '', standing });
  useEffect(() => {
    if (before.current.path === path && before.current.standing !== standing) void balance.refresh();
    if (live.data !== undefined) before.current = { path, standing };
  }, [path, standing, live.data === undefined]);

  async function load() {
    try {
      /** @type {Page} */
      const next = await api.get(`${path}&after=${tasks.at(-1)?.id}`);
      const prompts = { ...more.prompts, ...next.prompts };
      setOlder({ path, tasks: [...more.tasks, ...next.data], prompts, hasMore: next.has_more });
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  const currency = balance.data?.currency ?? '';
  const prompts = new Map(Object.entries({ ...more.prompts, ...live.data?.prompts }));
  const isFiltered = Object.values(wanted).some((value) => value !== '');
  return html`<main class="page">
    <h1>Tasks</h1>
    <${Figures} balance=${balance.data} />
    <div class="row apart filters">
      <${TaskFilters}
        filter=${filter}
        onChange=${setFilter}
        models=${[...new Set(tasks.map(({ model }) => model))]}
      />
      <div class="row" role="group" aria-label="Show as">
        <button aria-pressed=${!isList} onClick=${() => setList(false)}>Gallery</button>
        <button aria-pressed=${isList} onClick=${() => setList(true)}>List</button>
      </div>
    </div>
    ${selection.chosen.length > 0 && html`<${Downloads} tasks=${selection.chosen} onClear=${selection.clear} />`}
    <${LiveState} live=${live} />
    ${live.data !== undefined && tasks.length === 0 && html`<p class="soft">No ${kind} tasks${isFiltered ? ' that match' : ' yet'}. <a href="#/playground">Make one in the playground</a>.</p>`}
    ${tasks.length > 0 && html`<${isList ? List : Gallery} tasks=${tasks} prompts=${prompts} kind=${kind} currency=${currency} selection=${selection} />`}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${hasMore && html`<p class="ends row"><button onClick=${load}>Older tasks</button></p>`}
  </main>`;
}

/**
 * The days in the filter are in the reader's time zone.
 *
 * @param {Omit<import('./task-filters.js').Filter, 'kind'>} filter
 */
function queryOf({ status, model, from, to }) {
  return {
    status,
    model: model.trim(),
    created_after: from === '' ? undefined : new Date(`${from}T00:00`).getTime() / 1000,
    created_before: to === '' ? undefined : new Date(`${to}T00:00`).setHours(24) / 1000,
  };
}

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
