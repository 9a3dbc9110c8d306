import { errorOf } from '../shared/api.js';
import { beside, money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Facts, LiveState, Refusal, Time } from '../shared/parts.js';
import { html, useRef, useState } from '../shared/preact.js';
import { TaskCallback } from './callback.js';
import { Results } from './media.js';
import { TaskReceipt } from './receipt.js';
import { hasEnded, TaskState, tasksPath } from './task-state.js';

/** @typedef {import('./types.js').Task} Task */

const liveMs = 2_000;

/**
 * @typedef {{ api: import('../shared/api.js').Api, kind: string, id: string, currency: string, onEnded: (wasSeen:
 * boolean) => void }} Props `wasSeen`: whether the task ended while the page was open.
 */

/** @param {Omit<Props, 'onEnded'> & { onEnded: () => void }} props */
export function TaskPage({ api, kind, id, currency, onEnded }) {
  const [ended, setEnded] = useState('');
  return html`<main class="page">
    <p><a href="#/">Tasks</a></p>
    <h1>Task</h1>
    <${TaskView}
      api=${api}
      kind=${kind}
      id=${id}
      currency=${currency}
      onEnded=${(/** @type {boolean} */ wasSeen) => {
        setEnded(id);
        if (wasSeen) onEnded();
      }}
    />
    ${ended === id && html`<${TaskReceipt} key=${id} api=${api} path=${`${tasksPath(kind)}/${encodeURIComponent(id)}`} />`}
    ${ended === id && html`<${TaskCallback} key=${id} api=${api} id=${id} />`}
  </main>`;
}

/** @param {Props} props */
export function TaskView({ api, kind, id, currency, onEnded }) {
  const [ended, setEnded] = useState('');
  const wasUnfinished = useRef(false);
  const path = `${tasksPath(kind)}/${encodeURIComponent(id)}`;
  /** @type {import('../shared/live.js').Live<Task>} */
  const live = useLive(
    path,
    async (signal) => {
      /** @type {Task} */
      const answer = await api.get(path, signal);
      if (!hasEnded(answer)) wasUnfinished.current = true;
      if (hasEnded(answer) && ended !== path) {
        setEnded(path);
        onEnded(wasUnfinished.current);
      }
      return answer;
    },
    ended === path ? 0 : liveMs,
  );
  const task = live.data;
  return html`<${LiveState} live=${live} />
    ${task && html`<${Standing} task=${task} currency=${currency} api=${api} path=${path} refresh=${live.refresh} />`}`;
}

/** @param {{ task: Task, currency: string, api: import('../shared/api.js').Api, path: string, refresh: () => void }} props */
function Standing({ task, currency, api, path, refresh }) {
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  async function cancel() {
    try {
      await api.post(`${path}/cancel`, {});
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    refresh();
  }

  const canCancel = !hasEnded(task) && path.startsWith('/v1/videos/');
  return html`<p class="row" role="status">
      <${TaskState} task=${task} /> <span>${beside(task.status, task.error?.message ?? task.message)}</span>
    </p>
    <${Results} task=${task} />
    <${Facts}
      rows=${[
        [
          'Task',
          html`<a class="mono" href=${`#/tasks/${path.includes('/images/') ? 'image' : 'video'}/${task.id}`}
            >${task.id}</a
          >`,
        ],
        ['Model', task.model],
        ['Created', html`<${Time} at=${task.created_at} exact=${true} />`],
        [
          'Ended',
          task.completed_at === undefined ? '' : html`<${Time} at=${task.completed_at} exact=${true} />`,
        ],
        ['Charged length', task.duration === undefined ? '' : `${task.duration} s`],
        ['Progress', task.progress === undefined || hasEnded(task) ? '' : `${task.progress} %`],
        [
          'Expected charge',
          hasEnded(task) || task.estimate === undefined ? '' : `${money(task.estimate)} ${currency}`,
        ],
        ['Charged', task.charge === undefined ? '' : `${money(task.charge)} ${currency}`],
        [
          'Error',
          task.error === undefined ? '' : html`<code>${task.error.code}</code> ${task.error.class ?? ''}`,
        ],
      ]}
    />
    <p><a href=${`#/playground/${task.id}`}>Repeat with changes</a></p>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${canCancel && html`<p><button onClick=${cancel}>Cancel the task</button></p>`}`;
}
