import { money } from '../shared/format.js';
import { Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { Thumbnail } from './media.js';
import { TaskState } from './task-state.js';

/** @typedef {import('./types.js').Task} Task */

/**
 * @typedef {{
 *   tasks: readonly Task[], prompts: ReadonlyMap<string, string>, kind: string, currency: string,
 *   selection: { has: (key: string) => boolean, toggle: (keys: readonly string[], isOn: boolean) => void },
 * }} Shown
 */

/** @param {Shown} props */
export function Gallery({ tasks, prompts, kind, currency, selection }) {
  return html`<ul class="gallery">
    ${tasks.map(
      (task) =>
        html`<li key=${task.id}>
          <a href=${`#/tasks/${kind}/${task.id}`}>
            <div class="frame"><${Thumbnail} task=${task} /></div>
            ${prompts.has(task.id) && html`<p class="prompt" title=${prompts.get(task.id)}>${prompts.get(task.id)}</p>`}
            <div class="row apart"><span>${task.model}</span><${TaskState} task=${task} /></div>
            <div class="row apart small soft">
              <span><${Time} at=${task.created_at} /></span><span>${chargeOf(task)} ${currency}</span>
            </div>
          </a>
          <input
            type="checkbox"
            aria-label=${`Select ${prompts.get(task.id)?.slice(0, 60) ?? task.id}`}
            checked=${selection.has(task.id)}
            onChange=${() => selection.toggle([task.id], !selection.has(task.id))}
          />
        </li>`,
    )}
  </ul>`;
}

/** @param {Shown} props */
export function List({ tasks, prompts, kind, currency, selection }) {
  /** @type {readonly import('../shared/table.js').Column<Task>[]} */
  const columns = [
    {
      title: 'Task',
      cell: (/** @type {Task} */ { id }) => html`<a class="mono" href=${`#/tasks/${kind}/${id}`}>${id}</a>`,
    },
    {
      title: 'Prompt',
      isProse: true,
      cell: ({ id }) => html`<span class="prompt">${prompts.get(id) ?? ''}</span>`,
    },
    { title: 'State', cell: (/** @type {Task} */ task) => html`<${TaskState} task=${task} />` },
    { title: 'Model', cell: (/** @type {Task} */ { model }) => model },
    {
      title: `Charged ${currency}`,
      money: ({ charge, status }) => charge ?? (status === 'failed' ? '0' : null),
    },
    {
      title: `Expected charge ${currency}`,
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
    selection=${selection}
    onOpen=${(/** @type {Task} */ { id }) => (location.hash = `#/tasks/${kind}/${id}`)}
  />`;
}

/** @param {Task} task */
function chargeOf({ charge, estimate, status }) {
  if (charge !== undefined) return money(charge);
  if (estimate !== undefined) return `≈ ${money(estimate)}`;
  return status === 'failed' ? money('0') : '–';
}
