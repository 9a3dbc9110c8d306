import { periods } from './periods.js';
import { html } from './preact.js';

/** @typedef {{ name: string, from: string, to: string }} Asked `to` is the first day after the period. */
/** @typedef {Event & { currentTarget: HTMLInputElement | HTMLSelectElement }} Changed */

/** @param {{ asked: Asked, onChange: (asked: Asked) => void }} props */
export function Period({ asked, onChange }) {
  const known = periods(Date.now());
  /** @param {'from' | 'to'} name @param {string} label */
  const dayInput = (name, label) =>
    html`<label>
      ${label}
      <input
        type="date"
        required
        value=${asked[name]}
        onChange=${(/** @type {Changed} */ { currentTarget: { value } }) =>
          value !== '' && onChange({ ...asked, name: '', [name]: value })}
      />
    </label>`;
  return html`<div class="filters row">
    <label>
      Period
      <select
        onChange=${(/** @type {Changed} */ { currentTarget: { value } }) => {
          const chosen = known[value];
          if (chosen !== undefined) onChange({ name: value, ...chosen });
        }}
      >
        ${asked.name === '' && html`<option value="" selected>Custom</option>`}
        ${Object.keys(known).map((name) => html`<option value=${name} selected=${name === asked.name}>${name}</option>`)}
      </select>
    </label>
    ${dayInput('from', 'From')} ${dayInput('to', 'Until before')}
  </div>`;
}

/** @param {{ groups: readonly (readonly [string, string])[], by: string, onChange: (by: string) => void }} props */
export function GroupBy({ groups, by, onChange }) {
  return html`<div class="row" role="group" aria-label="By">
    ${groups.map(
      ([name, title]) =>
        html`<button aria-pressed=${name === by} onClick=${() => onChange(name)}>${title}</button>`,
    )}
  </div>`;
}
