import { counted, movement } from '../shared/format.js';
import { Badge, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { Adopt } from './act.js';
import { linkTo } from './router.js';

/** @typedef {import('./types.d.ts').ComparedBill} Compared */
/** @typedef {Compared['rows'][number]} Row */
/** @typedef {Row['result']} Result */

/** @type {Record<Result, { word: string, tone: import('../shared/parts.js').Tone }>} */
const results = {
  matched: { word: 'matched', tone: 'good' },
  amount_differs: { word: 'amount differs', tone: 'bad' },
  amount_unknown: { word: 'expected amount unknown', tone: 'warn' },
  upstream_only: { word: 'only theirs', tone: 'bad' },
  ours_only: { word: 'only ours', tone: 'warn' },
};

/** @typedef {(jobs: ReadonlyMap<string, string>) => void} OnAdopt */

/** @param {import('./bill-check.js').Props & { compared: Compared, onSettled: () => void }} props */
export function Settling({ api, may, currency, compared, onSettled }) {
  const [adopting, setAdopting] = useState(
    /** @type {ReadonlyMap<string, string> | undefined} */ (undefined),
  );
  return html`<${Report} compared=${compared} onAdopt=${may('tasks') ? setAdopting : undefined} /> ${
      adopting &&
      html`<${Adopt}
        api=${api}
        currency=${currency}
        jobs=${adopting}
        onClose=${() => setAdopting(undefined)}
        onDone=${() => {
          setAdopting(undefined);
          onSettled();
        }}
      />`
    }`;
}

/** @param {{ compared: Compared, onAdopt: OnAdopt | undefined }} props */
function Report({ compared, onAdopt }) {
  const { totals, rows, notes, in_order: inOrder, has_more: hasMore, by } = compared;
  const [asked, setShown] = useState(/** @type {Result | ''} */ (''));
  const shown = rows.some(({ result }) => result === asked) ? asked : '';
  const chosen = rows.filter(({ result }) => shown === '' || result === shown);
  const fitting = onAdopt === undefined ? new Map() : fittingJobs(rows);
  return html`<section aria-label="Comparison">
    ${inOrder && html`<p class="notice good" role="status">The bill matches.</p>`}
    ${fitting.size > 0 && html`<${Bulk} fitting=${fitting} isPart=${hasMore || compared.has_more_unclaimed || rows.some((row) => row.has_more_candidates)} onAdopt=${onAdopt} />`}
    <${Table}
      label="Sums"
      rows=${totals}
      keyOf=${(/** @type {Compared['totals'][number]} */ { result, unit }) => `${result} ${unit}`}
      columns=${totalColumns}
      empty="There is nothing to compare."
    />
    ${notes.map((note) => html`<p class="small soft">${note}</p>`)}
    ${
      rows.length > 0 &&
      html`<div class="tabs" role="group" aria-label="Result">
          <button aria-pressed=${shown === ''} onClick=${() => setShown('')}>All</button>
          ${[...new Set(rows.map(({ result }) => result))].map(
            (result) =>
              html`<button aria-pressed=${shown === result} onClick=${() => setShown(result)}>
                ${results[result].word}
              </button>`,
          )}
        </div>
        <${Table}
          label="What does not match"
          rows=${chosen}
          keyOf=${(/** @type {Row} */ row) => [row.job, row.task, row.attempt, row.unit, row.at, row.model].join(' ')}
          columns=${by === 'job' ? jobColumns(onAdopt) : dayColumns}
          empty="Nothing."
        />`
    }
    ${hasMore && html`<p class="soft">${`${counted(rows.length, 'row')} are shown here. The command gateway reconcile lists all of them.`}</p>`}
  </section>`;
}

/**
 * Adopts several jobs at once. This is not offered if rows are missing, because a job that fits one visible task may
 * also fit a hidden one.
 *
 * @param {{ fitting: ReadonlyMap<string, string>, isPart: boolean, onAdopt: OnAdopt }} props
 */
function Bulk({ fitting, isPart, onAdopt }) {
  if (isPart)
    return html`<p class="notice warn">
      Adopt jobs one by one. Not all rows, attempts or candidates are shown, so another job may fit the same
      task. A shorter bill may show all of them.
    </p>`;
  return html`<div class="row">
    <button class="main" onClick=${() => onAdopt(fitting)}>
      ${`Settle ${counted(fitting.size, 'job')}`}
    </button>
    <span class="soft">Each fits exactly one task, and that task is waiting for its job.</span>
  </div>`;
}

/** @type {readonly import('../shared/table.js').Column<Compared['totals'][number]>[]} */
const totalColumns = [
  { title: 'Result', cell: ({ result }) => html`<${Result} result=${result} />` },
  { title: 'Rows', isNumber: true, cell: ({ rows }) => rows.toLocaleString('en') },
  { title: 'Unit', cell: ({ unit }) => unit ?? '–' },
  { title: 'Billed', money: ({ billed }) => billed },
  { title: 'Expected', money: ({ expected }) => expected },
];

/** @param {{ result: Result }} props */
function Result({ result }) {
  return html`<${Badge} tone=${results[result].tone} word=${results[result].word} />`;
}

/** @type {readonly import('../shared/table.js').Column<Row>[]} */
const amounts = [
  { title: 'Unit', cell: ({ unit }) => unit ?? '–' },
  { title: 'Billed', money: ({ billed }) => billed },
  { title: 'Expected', money: ({ expected }) => expected },
  { title: 'Difference', isNumber: true, cell: ({ difference }) => movement(difference) },
];

/**
 * @param {OnAdopt | undefined} onAdopt
 * @returns {readonly import('../shared/table.js').Column<Row>[]}
 */
const jobColumns = (onAdopt) => [
  { title: 'Result', cell: ({ result }) => html`<${Result} result=${result} />` },
  { title: 'Upstream’s job', cell: ({ job }) => html`<span class="mono">${job ?? '–'}</span>` },
  { title: 'Task', isProse: true, cell: (row) => html`<${TaskOf} row=${row} onAdopt=${onAdopt} />` },
  ...amounts,
  { title: 'Billed at', cell: ({ at }) => html`<${Time} at=${at} />` },
];

/** @type {readonly import('../shared/table.js').Column<Row>[]} */
const dayColumns = [
  { title: 'Result', cell: ({ result }) => html`<${Result} result=${result} />` },
  { title: 'Day', cell: ({ at }) => html`<${Time} at=${at} />` },
  { title: 'Model', cell: ({ model }) => model ?? '–' },
  { title: 'Our tasks', isNumber: true, cell: ({ tasks }) => tasks ?? '–' },
  ...amounts,
];

/** @param {string} task */
const taskLink = (task) => html`<a class="mono" href=${linkTo(['tasks', task])}>${task}</a>`;

/**
 * Returns the unambiguous matches between jobs and tasks, by task. In a match, the job fits only this task, and the
 * task is waiting for a job and fits only this one.
 *
 * @param {readonly Row[]} rows A job that is billed in several units has several rows.
 * @returns {ReadonlyMap<string, string>}
 */
function fittingJobs(rows) {
  const pairs = rows.flatMap(({ job, candidates }) =>
    job === null ? [] : candidates.map(({ task, attempt, adoptable }) => ({ job, task, attempt, adoptable })),
  );
  /** @type {Map<string, Set<string>>} */
  const jobsOf = new Map();
  /** @type {Map<string, Set<string>>} */
  const attemptsOf = new Map();
  for (const { job, task, attempt } of pairs) {
    jobsOf.set(task, (jobsOf.get(task) ?? new Set()).add(job));
    attemptsOf.set(job, (attemptsOf.get(job) ?? new Set()).add(`${task} ${attempt}`));
  }
  return new Map(
    pairs
      .filter(({ job, task, adoptable }) => {
        return adoptable && jobsOf.get(task)?.size === 1 && attemptsOf.get(job)?.size === 1;
      })
      .map(({ task, job }) => [task, job]),
  );
}

/** @param {{ row: Row, onAdopt: OnAdopt | undefined }} props */
function TaskOf({ row: { job, task, candidates, has_more_candidates: hasMore }, onAdopt }) {
  if (task !== null) return taskLink(task);
  if (candidates.length === 0) return html`<span class="soft">No task matches.</span>`;
  const listed = candidates.map(
    ({ task: id, attempt, state, adoptable, why }) =>
      html`<p>
        May belong to ${taskLink(id)} (attempt ${attempt}, ${state}).${' '}
        <span class="small soft">${why.join(' ')}</span>
        ${
          onAdopt !== undefined &&
          adoptable &&
          job !== null &&
          html` <button class="plain" onClick=${() => onAdopt(new Map([[id, job]]))}>Adopt</button>`
        }
      </p>`,
  );
  return hasMore ? [...listed, html`<p class="soft">Other tasks may match too.</p>`] : listed;
}
