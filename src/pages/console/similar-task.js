import { money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { linkTo } from './router.js';
import { TaskState } from './task-state.js';

/** @typedef {import('./types.d.ts').Task} Task */

/**
 * The other task is loaded only when the operator opens the comparison.
 *
 * @param {{ api: import('./types.d.ts').Api, task: Task, currency: string }} props
 */
export function Similar(props) {
  const [isOpen, setOpen] = useState(false);
  return html`<details
    onToggle=${(/** @type {Event & { currentTarget: HTMLDetailsElement }} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>Compare with a task that succeeded</summary>
    ${isOpen && html`<${Opened} ...${props} />`}
  </details>`;
}

/** @param {{ api: import('./types.d.ts').Api, task: Task, currency: string }} props */
function Opened({ api, task, currency }) {
  const path = withQuery('/admin/v1/tasks', { model: task.model, status: 'succeeded', limit: 1 });
  /** @type {import('../shared/live.js').Live<import('./types.d.ts').Page<Task>>} */
  const live = useLive(path, (signal) => api.get(path, signal), 0);
  if (live.data === undefined) return html`<${LiveState} live=${live} />`;
  const [other] = live.data.data;
  if (other === undefined) return html`<p class="soft">No task of this model has succeeded.</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label="Comparison">
    <table>
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <th scope="col">This task</th>
          <th scope="col"><a href=${linkTo(['tasks', other.id])}>The newest successful task</a></th>
        </tr>
      </thead>
      <tbody>
        ${rowsOf(currency).map(
          ([title, cell]) =>
            html`<tr>
              <th scope="row">${title}</th>
              <td>${cell(task)}</td>
              <td>${cell(other)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * @param {string} currency
 * @returns {readonly (readonly [string, (task: Task) => unknown])[]}
 */
function rowsOf(currency) {
  /** @param {string | null} amount */
  const sum = (amount) => (amount === null ? '–' : `${money(amount)} ${currency}`);
  return [
    ['State', (task) => html`<${TaskState} task=${task} />`],
    ['Channel', ({ channel }) => channel ?? '–'],
    ['Account', ({ account }) => account],
    ['Key', ({ key }) => html`<span class="mono">${key}</span>`],
    ['Duration', ({ duration }) => (duration === undefined ? '–' : `${duration} s`)],
    ['Tokens', ({ usage }) => usage?.total_tokens?.toLocaleString('en') ?? '–'],
    ['Held', ({ hold }) => sum(hold)],
    ['Charged', ({ charge }) => sum(charge)],
    ['Cost', ({ cost }) => sum(cost)],
    ['Created', ({ created_at: at }) => html`<${Time} at=${at} />`],
    ['Took', ({ created_at: from, completed_at: to }) => (to ? `${to - from} s` : '–')],
  ];
}
