import { counted, words } from '../shared/format.js';
import { Badge, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { linkTo } from './router.js';

/** The gateway describes the health of channels. The pages must not derive or reword it. */

/** @typedef {import('./types.d.ts').ChannelHealth} ChannelHealth */

/** @type {Record<ChannelHealth['state'], import('../shared/parts.js').Tone>} */
const tones = {
  serving: 'good',
  flapping: 'warn',
  partly_ill: 'warn',
  probing: 'warn',
  ill: 'bad',
  paused: 'idle',
};

/** @type {readonly ChannelHealth['state'][]} */
const worstFirst = ['ill', 'partly_ill', 'probing', 'flapping', 'paused', 'serving'];

/** The worst state has rank 0. @param {{ health: ChannelHealth }} channel */
export function rankOf({ health }) {
  return worstFirst.indexOf(health.state);
}

/** @param {{ state: ChannelHealth['state'] }} props */
export function HealthBadge({ state }) {
  return html`<${Badge} tone=${tones[state]} word=${words(state)} />`;
}

/** @param {{ health: ChannelHealth }} props */
export function HealthNotice({ health: { state, text, since, until, waiting } }) {
  if (state === 'serving') return null;
  return html`<p class="notice warn">
    ${text} ${since !== null && html`<span class="soft"> since <${Time} at=${since} /></span>`}
    ${until !== null && html`<span class="soft">, until <${Until} at=${until} /></span>`}
    ${waiting !== null && waiting.tasks > 0 && html`<${Waiting} waiting=${waiting} />`}
  </p>`;
}

/**
 * The last second of the year 9999, in Unix seconds. It marks a circuit that stays open until an operator closes it.
 */
const forever = 253_402_300_799;

/** @param {{ at: number }} props */
export function Until({ at }) {
  return at >= forever ? 'it is closed' : html`<${Time} at=${at} />`;
}

/** @param {{ waiting: NonNullable<ChannelHealth['waiting']> }} props */
function Waiting({ waiting: { tasks, oldest_at: oldest } }) {
  return html`<span>
    ${counted(tasks, 'task')} not submitted yet, the oldest since <${Time} at=${oldest} />.</span
  >`;
}

/** @param {{ channels: readonly ChannelHealth[] }} props */
export function HealthList({ channels }) {
  return channels.map(
    (health) =>
      html`<div key=${health.channel} class="health opens">
        <div class="row">
          <a href=${linkTo(['channels', health.channel])}>${health.channel}</a>
          <${HealthBadge} state=${health.state} />
          <span class="soft small">${openedOf(health) && `opened ${openedOf(health)}`}</span>
        </div>
        <${HealthNotice} health=${health} />
      </div>`,
  );
}

/** @param {Pick<ChannelHealth, 'opened'>} health */
export function openedOf({ opened: { hour, day } }) {
  return day === 0 ? '' : `${hour} in the last hour, ${day} in a day`;
}
