import { Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { actNamed } from './act-fields.js';
import { named } from './names.js';
import { linkTo } from './router.js';
import { amountOf, TaskState } from './task-state.js';

/** @typedef {import('./types.d.ts').Task} Task */

/**
 * @param {string} currency
 * @param {{ byEnd: boolean, isNarrow: boolean }} shown
 * In narrow windows, the first column also has the model and the time, which would otherwise require scrolling.
 * @returns {readonly import('../shared/table.js').Column<Task>[]}
 */
export function columnsOf(currency, { byEnd, isNarrow }) {
  const time = byEnd
    ? { title: 'Ended', at: (/** @type {Task} */ { completed_at: at }) => at }
    : { title: 'Created', at: (/** @type {Task} */ { created_at: at }) => at };
  const task = {
    title: 'Task',
    cell: (/** @type {Task} */ row) =>
      html`<a class="mono short" title=${row.id} href=${linkTo(['tasks', row.id])}>${row.id}</a>${
          isNarrow &&
          html`<div class="small soft">${short(row.model)}<br /><${Time} at=${time.at(row)} /></div>`
        }`,
  };
  const state = { title: 'State', cell: (/** @type {Task} */ one) => html`<${TaskState} task=${one} />` };
  return [
    ...(isNarrow ? [task, state] : []),
    { title: `Amount ${currency}`, money: (task) => amountOf(task).amount },
    { title: 'Billing', cell: (task) => html`<span class="soft">${amountOf(task).word}</span>` },
    ...(isNarrow ? [] : [state]),
    { title: 'Reason or next step', isProse: true, cell: (task) => html`<${Next} task=${task} />` },
    ...(isNarrow ? [] : [task, { title: 'Model', cell: (/** @type {Task} */ { model }) => short(model) }]),
    { title: 'Account', cell: ({ account }) => short(account) },
    { title: 'Channel', cell: ({ channel }) => short(channel ?? '–') },
    { title: 'Key', cell: ({ key }) => mono(key) },
    { title: 'Upstream’s job', cell: ({ upstream_id: job }) => mono(job) },
    { title: 'Request', cell: ({ request_id: request }) => mono(request) },
    { title: `Cost ${currency}`, money: ({ cost }) => cost },
    { title: `Margin ${currency}`, movement: ({ margin }) => margin },
    ...(isNarrow
      ? []
      : [{ title: time.title, cell: (/** @type {Task} */ row) => html`<${Time} at=${time.at(row)} />` }]),
  ];
}

/** @param {string} currency */
export const hiddenColumns = (currency) => [
  'Key',
  'Upstream’s job',
  'Request',
  `Cost ${currency}`,
  `Margin ${currency}`,
];

/** @param {string | null} name */
const mono = (name) => html`<span class="mono short" title=${name}>${name ?? '–'}</span>`;

/** @param {string} name */
const short = (name) => html`<span class="short" title=${name}>${name}</span>`;

/** @param {{ task: Task }} props */
function Next({ task: { error, needs_attention: attention, situation } }) {
  const { waits_for: waits, until, actions } = situation;
  const [first] = actions;
  if (attention !== null && first !== undefined)
    return html`${actNamed(first.name).title}${actions.length > 1 && ' …'}${
      until !== null && html`, ends <${Time} at=${until} />`
    }`;
  if (error !== undefined) return named(error.class ?? error.code);
  return waits === null ? '' : `waits for ${named(waits)}`;
}
