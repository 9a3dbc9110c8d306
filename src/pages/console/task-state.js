import { Badge } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { named } from './names.js';

/** @typedef {import('./types.d.ts').Task} Task */

/** @type {Record<Task['status'], import('../shared/parts.js').Tone>} */
const tones = { pending: 'idle', submitted: 'busy', running: 'busy', succeeded: 'good', failed: 'bad' };

/**
 * If the task needs attention, the reason replaces the state. If `full` is set, both are shown.
 *
 * @param {{ task: Pick<Task, 'status' | 'needs_attention'>, full?: boolean }} props
 */
export function TaskState({ task: { status, needs_attention: attention }, full = false }) {
  const state = html`<${Badge} tone=${tones[status]} word=${status} />`;
  if (attention === null) return state;
  return html`${full ? html`${state} ` : null}<${Badge} tone="warn" word=${named(attention)} />`;
}

/**
 * A failed task's hold is shown as released.
 *
 * @param {Pick<Task, 'charge' | 'hold' | 'status'>} task
 */
export function amountOf({ charge, hold, status }) {
  if (status === 'failed') return { amount: hold, word: 'released' };
  return charge === null ? { amount: hold, word: 'held' } : { amount: charge, word: 'charged' };
}
