import { Copy } from '../shared/copy.js';
import { money, movement, outgoing } from '../shared/format.js';
import { Facts, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { named } from './names.js';
import { linkTo } from './router.js';

/** @typedef {import('./types.d.ts').TaskDetail} TaskDetail */

/** @param {{ task: TaskDetail, currency: string, workflowsUrl: string | null }} props */
export function TaskFacts({ task, currency, workflowsUrl }) {
  /** @param {string | null} value */
  const copied = (value) =>
    value && html`<span class="mono">${value}</span> <${Copy} text=${value} what=${value} />`;
  const { error } = task;
  return html`<${Facts}
    rows=${[
      ['Held', task.hold && `${outgoing(task.hold)} ${currency}`],
      [
        'Charged',
        task.charge && `${outgoing(task.charge)} ${currency}${task.charge_estimated ? ' (estimated)' : ''}`,
      ],
      ['Refunded', task.refunded && `${movement(task.refunded)} ${currency}`],
      ['Cost', costOf(task, currency)],
      ['Margin', task.margin && `${movement(task.margin)} ${currency}`],
      ['Upstream reports', task.upstream_cost && `${task.upstream_cost.amount} ${task.upstream_cost.unit}`],
      ['Error', error && `${named(error.class ?? '')} (${error.code}): ${error.message}`],
      ['Account', html`<a href=${linkTo(['accounts', task.account])}>${task.account}</a>`],
      ['Key', html`<a class="mono" href=${linkTo(['tasks'], { key: task.key })}>${task.key}</a>`],
      ['Model', task.model],
      ['Kind', task.kind],
      ['Channel', task.channel],
      ['Upstream’s job', copied(task.upstream_id)],
      [
        'Workflow',
        workflowsUrl &&
          html`<a href=${`${workflowsUrl}${task.id}`} rel="noreferrer" target="_blank"
            >in the Temporal UI</a
          >`,
      ],
      ['Request', copied(task.request_id)],
      ['Duration', task.duration && `${task.duration} s`],
      ['Tokens', task.usage?.total_tokens?.toLocaleString('en')],
      ['Deadline', html`<${Time} at=${task.deadline_at} exact />`],
      ['Ended', task.completed_at && html`<${Time} at=${task.completed_at} exact />`],
    ]}
  />`;
}

/**
 * @param {TaskDetail} task
 * @param {string} currency
 */
function costOf({ cost, cost_state: state }, currency) {
  if (state === 'unknown') return 'unknown';
  return cost && `${state === 'partly' ? 'at least ' : ''}${money(cost)} ${currency}`;
}
