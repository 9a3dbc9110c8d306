/** The question: which task is it, and which ones are not well? */
import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useRef, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { Act } from './act.js';
import { Filters } from './filters.js';
import { useKeys } from './keyboard.js';
import { LedgerTable } from './ledger-table.js';
import { Pages } from './pages.js';
import { focusedRow, usePosition, useRowKeys } from './row-keys.js';
import { changeQuery, goTo, keepList, linkTo } from './router.js';
import { useSelection } from './selection.js';
import { columnsOf } from './task-columns.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./types.d.ts').Page<Task>} TaskPage */
/** @typedef {import('./types.d.ts').LedgerEntry} LedgerEntry */
/** @typedef {{ data: readonly (Task | { task: Task })[], has_more?: boolean, ledger?: readonly LedgerEntry[] }} Found */
/** @typedef {import('./types.d.ts').PageProps & { place: import('./router.js').Place }} Props */

const tickMs = 5_000;
const pageSize = 50;
const largestPage = 100;
/** As many as an operator answers for at once. */
const allMax = 1_000;

/** @param {Props} props */
export function Tasks({ api, may, currency, place }) {
  const mayAct = may('actOnTask');
  const asked = Object.fromEntries(place.query);
  const list = linkTo(place.path, { ...asked, focus: undefined });
  const live = useTasks(api, list, asked);
  const selection = useSelection(list, live.data?.data ?? noRows);
  const [acted, setActed] = useState(/** @type {readonly Task[] | undefined} */ (undefined));
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  const { chosen } = selection;
  const act = () => mayAct && chosen.length > 0 && setActed(chosen);
  keepList(place);
  usePosition(list, live.data !== undefined);
  useListKeys({ selection: mayAct ? selection : undefined, search, act });
  return html`<main>
    <div class="row apart head">
      <h1>Tasks</h1>
      ${
        mayAct &&
        html`<button disabled=${chosen.length === 0} onClick=${act}>
          ${chosen.length === 0 ? 'Act on selected' : `Act on ${chosen.length} selected`}
        </button>`
      }
    </div>
    <${Filters} place=${place} searchRef=${search} />
    <${LiveState} live=${live} />
    ${
      live.data !== undefined &&
      html`<${Found}
        page=${live.data}
        currency=${currency}
        selection=${mayAct ? selection : undefined}
        empty=${asked['find'] === undefined ? 'No task matches.' : 'Nothing is known of this id.'}
        loadAll=${() => loadAll(api, asked)}
        place=${place}
      />`
    }
    ${
      acted &&
      html`<${Act}
        api=${api}
        tasks=${acted}
        currency=${currency}
        onClose=${() => setActed(undefined)}
        onDone=${() => {
          setActed(undefined);
          selection.clear();
          live.refresh();
        }}
      />`
    }
  </main>`;
}

/** @type {readonly Task[]} */
const noRows = [];

/** @typedef {ReturnType<typeof useSelection>} Selection */

/**
 * @param {{
 *   page: ReturnType<typeof toPage>, currency: string, selection: Selection | undefined, empty: string,
 *   loadAll: () => Promise<readonly Task[]>, place: import('./router.js').Place,
 * }} props
 */
function Found({
  page: { data: rows, ledger, has_more: hasMore },
  currency,
  selection,
  empty,
  loadAll: load,
  place,
}) {
  if (rows.length === 0 && ledger.length > 0)
    return html`<${FoundImages} entries=${ledger} currency=${currency} />`;
  return html`<${Table}
      label="Tasks"
      columns=${columnsOf(currency, place.query.has('ended'))}
      rows=${rows}
      keyOf=${(/** @type {Task} */ { id }) => id}
      onOpen=${(/** @type {Task} */ { id }) => goTo(linkTo(['tasks', id]))}
      selection=${selection}
      empty=${empty}
    />
    ${
      hasMore &&
      selection !== undefined &&
      rows.every(({ id }) => selection.has(id)) &&
      html`<${TakeAll} count=${selection.chosen.length} load=${load} onLoaded=${selection.takeAll} />`
    }
    <${Pages}
      isFirst=${!place.query.has('after')}
      hasMore=${hasMore}
      onNewest=${() => changeQuery(place, { after: undefined })}
      onOlder=${() => changeQuery(place, { after: rows.at(-1)?.id })}
    />`;
}

/**
 * @param {{
 *   selection: Selection | undefined, search: { current: HTMLInputElement | null },
 *   act: () => void,
 * }} list
 */
function useListKeys({ selection, search, act }) {
  useRowKeys();
  useKeys({
    '/': () => search.current?.focus(),
    x() {
      const key = focusedRow();
      if (key !== undefined) selection?.toggle([key], !selection.has(key));
    },
    a: act,
  });
}

/** @param {Record<string, string>} asked */
function pathOf(asked) {
  const id = asked['find'];
  return id === undefined ? listPath(asked) : withQuery('/admin/v1/find', { id });
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {string} list Another one is another list.
 * @param {Record<string, string>} asked
 * @returns {import('../shared/live.js').Live<ReturnType<typeof toPage>>}
 */
function useTasks(api, list, asked) {
  return useLive(
    list,
    async (signal) => {
      /** @type {Found} */
      const found = await api.get(pathOf(asked), signal);
      return toPage(found);
    },
    tickMs,
  );
}

/**
 * @param {{ count: number, load: () => Promise<readonly Task[]>, onLoaded: (tasks: readonly Task[]) => void }} props
 */
function TakeAll({ count, load, onLoaded }) {
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  return html`<p class="notice">
    ${`${counted(count, 'task')} selected. `}
    <button class="plain" onClick=${() => void load().then(onLoaded, setError)}>
      Select all that match, at most ${allMax.toLocaleString('en')}
    </button>
    ${error && html` <${Refusal} error=${error} />`}
  </p>`;
}

/**
 * Every task that matches the filters, page by page.
 *
 * @param {import('./types.d.ts').Api} api
 * @param {Record<string, string>} asked
 */
async function loadAll(api, asked) {
  /** @type {Task[]} */
  const found = [];
  let after = asked['after'];
  while (found.length < allMax) {
    /** @type {TaskPage} */
    const page = await api.get(
      listPath({ ...asked, ...(after === undefined ? {} : { after }) }, largestPage),
    );
    found.push(...page.data);
    after = page.data.at(-1)?.id;
    if (!page.has_more) break;
  }
  return found.slice(0, allMax);
}

/** @param {Record<string, string>} asked @param {number} [limit] */
function listPath({ state, focus: _focus, ...filters }, limit = pageSize) {
  const status =
    state === 'attention'
      ? { needs_attention: 'true' }
      : state === 'callback_failed'
        ? { callback_failed: 'true' }
        : { status: state };
  const { hours, ended, find: _find, ...same } = filters;
  const times = { created_after: hoursAgo(hours), ended_after: hoursAgo(ended) };
  return withQuery('/admin/v1/tasks', { ...same, ...status, ...times, limit });
}

/** In whole minutes. @param {string | undefined} hours */
function hoursAgo(hours) {
  return hours === undefined ? undefined : Math.floor(Date.now() / 60_000 - Number(hours) * 60) * 60;
}

/**
 * What `find` answers has the tasks one level deeper, and the ledger's entries of what is not a task.
 *
 * @param {Found} answer
 */
function toPage({ data, has_more: hasMore = false, ledger = [] }) {
  return { data: data.map((row) => ('task' in row ? row.task : row)), has_more: hasMore, ledger };
}

/**
 * Images that were answered at once are not a task: the ledger has what they cost.
 *
 * @param {{ entries: readonly LedgerEntry[], currency: string }} props
 */
function FoundImages({ entries, currency }) {
  const account = entries[0]?.account ?? '';
  return html`<p>
      Images that were answered at once, and are not a task. The account is
      <a href=${linkTo(['accounts', account])}>${account}</a>.
    </p>
    <${LedgerTable} entries=${entries} currency=${currency} />`;
}
