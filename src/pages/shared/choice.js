import { html } from './preact.js';

/**
 * @param {{
 *   label: string, value: string, options: readonly (readonly string[])[], onChange: (value: string) => void, isFirst?: boolean,
 * }} props `isFirst`: focus this field when the dialog opens.
 */
export function Choice({ label, value, options: given, onChange, isFirst = false }) {
  return html`<label class="field">
    <span class="small soft">${label}</span>
    <select
      aria-label=${label}
      autofocus=${isFirst}
      value=${value}
      onChange=${(/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => onChange(event.currentTarget.value)}
    >
      ${given.map(([name, title]) => html`<option value=${name} selected=${name === value}>${title}</option>`)}
    </select>
  </label>`;
}
