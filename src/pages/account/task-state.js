import { Badge } from '../shared/parts.js';
import { html } from '../shared/preact.js';

/** @type {Record<string, import('../shared/parts.js').Tone>} */
const tones = { succeeded: 'good', failed: 'bad', running: 'busy', submitted: 'busy' };

/** @param {{ task: import('./types.js').Task }} props */
export function TaskState({ task: { status } }) {
  return html`<${Badge} tone=${tones[status] ?? 'idle'} word=${status} />`;
}

/** @param {import('./types.js').Task} task */
export function hasEnded({ status }) {
  return status === 'succeeded' || status === 'failed';
}

/** @param {string} kind */
export function tasksPath(kind) {
  return kind === 'image' ? '/v1/images/generations' : '/v1/videos/generations';
}
