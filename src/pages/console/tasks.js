import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useRef, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { saveCsv } from '../shared/save.js';
import { Table } from '../shared/table.js';
import { Act } from './act.js';
import { useColumns } from './column-choice.js';
import { Filters } from './filters.js';
import { Hits, hitsOf } from './found.js';
import { useKeys } from './keyboard.js';
import { useNarrow } from './narrow.js';
import { LedgerTable } from './ledger-table.js';
import { Pages } from './pages.js';
import { focusedRow, usePosition, useRowKeys } from './row-keys.js';
import { changeQuery, goTo, keepList, linkTo } from './router.js';
import { useSelection } from '../shared/selection.js';
import { columnsOf, hiddenColumns } from './task-columns.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./types.d.ts').Page<Task>} TaskPage */
/** @typedef {import('./types.d.ts').LedgerEntry} LedgerEntry */
/** @typedef {{ data: readonly (Task | { task: Task })[], has_more?: boolean, ledger?: readonly LedgerEntry[], others?: readonly import('./found.js').Other[] }} Found */
/** @typedef {import('./types.d.ts').PageProps & { place: import('./router.js').Place, overview: import('./types.d.ts').Overview }} Props */

const tickMs = 5_000;
const pageSize = 50;
const largestPage = 100;
/** An operator can still take responsibility for acting on this many tasks at once. */
const allMax = 1_000;

/** @param {Props} props */
export function Tasks({ api, may, currency, place, overview }) {
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
      <div class="row">
        ${
          asked['find'] === undefined &&
          html`<button onClick=${() => saveCsv(api, listPath(asked, undefined), 'tasks')}>
            Save as CSV
          </button>`
        }
        ${
          mayAct &&
          html`<button disabled=${chosen.length === 0} onClick=${act}>
            ${chosen.length === 0 ? 'Act on selected' : `Act on ${chosen.length} selected`}
          </button>`
        }
      </div>
    </div>
    <${Filters} api=${api} place=${place} searchRef=${search} overview=${overview} />
    <${LiveState} live=${live} />
    ${
      live.data !== undefined &&
      html`<${Found}
        page=${live.data}
        currency=${currency}
        selection=${mayAct ? selection : undefined}
        find=${asked['find']}
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
          void live.refresh();
        }}
      />`
    }
  </main>`;
}

/** @type {readonly Task[]} */
const noRows = [];

/** @type {readonly import('./found.js').Hit[]} */
const noHits = [];

/** @typedef {ReturnType<typeof useSelection<import('./types.d.ts').Task>>} Selection */

/**
 * @param {{
 *   page: ReturnType<typeof toPage>, currency: string, selection: Selection | undefined, find: string | undefined,
 *   loadAll: () => Promise<readonly Task[]>, place: import('./router.js').Place,
 * }} props
 */
function Found({
  page: { data: rows, ledger, others, has_more: hasMore },
  currency,
  selection,
  find,
  loadAll: load,
  place,
}) {
  const columns = columnsOf(currency, { byEnd: place.query.has('ended'), isNarrow: useNarrow() });
  const { shown, choice } = useColumns(columns, hiddenColumns(currency));
  const hits = find === undefined ? noHits : hitsOf(others, find);
  if (rows.length === 0 && ledger.length > 0)
    return html`<${FoundImages} entries=${ledger} currency=${currency} />`;
  if (find !== undefined && rows.length + hits.length === 0)
    return html`<p class="soft">Nothing has this id, this name or these words in its error.</p>`;
  const [first] = [...rows.map(({ id }) => linkTo(['tasks', id])), ...hits.map(({ link }) => link)];
  const only = rows.length + hits.length === 1 ? first : undefined;
  if (find !== undefined && rows.length === 0) return html`<${Hits} hits=${hits} only=${only} />`;
  return html`<${Hits} hits=${hits} only=${find === undefined ? undefined : only} />
    ${choice}
    <${Table}
      label="Tasks"
      columns=${shown}
      rows=${rows}
      keyOf=${(/** @type {Task} */ { id }) => id}
      onOpen=${(/** @type {Task} */ { id }) => goTo(linkTo(['tasks', id]))}
      selection=${selection}
      empty="No task matches."
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
  const text = asked['find'];
  return text === undefined ? listPath(asked, pageSize) : withQuery('/admin/v1/find', { text });
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {string} list Changes when a different list is shown.
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

/** @param {Record<string, string>} asked @param {number | undefined} limit */
function listPath({ state, focus: _focus, ...filters }, limit) {
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

/** @param {string | undefined} hours */
function hoursAgo(hours) {
  return hours === undefined ? undefined : Math.floor(Date.now() / 60_000 - Number(hours) * 60) * 60;
}

/**
 * The response to `find` nests each task one level deeper. It also contains ledger entries if the text matches ids of
 * synchronous images.
 *
 * @param {Found} answer
 */
function toPage({ data, has_more: hasMore = false, ledger = [], others = [] }) {
  return { data: data.map((row) => ('task' in row ? row.task : row)), has_more: hasMore, ledger, others };
}

/** @param {{ entries: readonly LedgerEntry[], currency: string }} props */
function FoundImages({ entries, currency }) {
  const account = entries[0]?.account ?? '';
  return html`<p>
      These images were returned synchronously and have no task. The account is
      <a href=${linkTo(['accounts', account])}>${account}</a>.
    </p>
    <${LedgerTable} entries=${entries} currency=${currency} />`;
}
