import { Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { actNamed } from './act-fields.js';
import { named } from './names.js';
import { linkTo } from './router.js';
import { amountOf, TaskState } from './task-state.js';

/** @typedef {import('./types.d.ts').Task} Task */

/**
 * @param {string} currency
 * @param {boolean} byEnd
 * @returns {readonly import('../shared/table.js').Column<Task>[]}
 */
export function columnsOf(currency, byEnd) {
  return [
    { title: `Amount ${currency}`, money: (task) => amountOf(task).amount },
    { title: 'Billing', cell: (task) => html`<span class="soft">${amountOf(task).word}</span>` },
    { title: 'State', cell: (task) => html`<${TaskState} task=${task} />` },
    { title: 'Reason or next step', isProse: true, cell: (task) => html`<${Next} task=${task} />` },
    {
      title: 'Task',
      cell: ({ id }) => html`<a class="mono short" title=${id} href=${linkTo(['tasks', id])}>${id}</a>`,
    },
    { title: 'Model', cell: ({ model }) => short(model) },
    { title: 'Account', cell: ({ account }) => short(account) },
    { title: 'Channel', cell: ({ channel }) => short(channel ?? '–') },
    { title: 'Key', cell: ({ key }) => mono(key) },
    { title: 'Upstream’s job', cell: ({ upstream_id: job }) => mono(job) },
    { title: 'Request', cell: ({ request_id: request }) => mono(request) },
    { title: `Cost ${currency}`, money: ({ cost }) => cost },
    { title: `Margin ${currency}`, movement: ({ margin }) => margin },
    byEnd
      ? { title: 'Ended', cell: ({ completed_at: at }) => html`<${Time} at=${at} />` }
      : { title: 'Created', cell: ({ created_at: at }) => html`<${Time} at=${at} />` },
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
