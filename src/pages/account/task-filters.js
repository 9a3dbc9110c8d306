import { Choice } from '../shared/choice.js';
import { html } from '../shared/preact.js';

/**
 * @typedef {{ kind: string, status: string, model: string, from: string, to: string }} Filter `from` and `to` are days,
 * such as `2026-11-22`.
 */
/** @typedef {Event & { currentTarget: HTMLInputElement }} Changed */

/** @type {Filter} */
export const unfiltered = { kind: 'video', status: '', model: '', from: '', to: '' };

/** @param {{ filter: Filter, onChange: (filter: Filter) => void, models: readonly string[] }} props */
export function TaskFilters({ filter, onChange, models }) {
  /** @param {'from' | 'to'} name @param {string} label */
  const day = (name, label) =>
    html`<label class="field">
      <span class="small soft">${label}</span>
      <input
        type="date"
        value=${filter[name]}
        onChange=${(/** @type {Changed} */ { currentTarget: { value } }) => onChange({ ...filter, [name]: value })}
      />
    </label>`;
  return html`<div class="row">
    <${Choice}
      label="Kind"
      value=${filter.kind}
      onChange=${(/** @type {string} */ kind) => onChange({ ...filter, kind, model: '' })}
      options=${kinds}
    />
    <${Choice}
      label="State"
      value=${filter.status}
      onChange=${(/** @type {string} */ status) => onChange({ ...filter, status })}
      options=${states}
    />
    <label class="field">
      <span class="small soft">Model</span>
      <input
        list="task-models"
        placeholder="All"
        value=${filter.model}
        onChange=${(/** @type {Changed} */ { currentTarget: { value: model } }) => onChange({ ...filter, model })}
      />
    </label>
    <datalist id="task-models">${models.map((model) => html`<option value=${model}></option>`)}</datalist>
    ${day('from', 'From')} ${day('to', 'To')}
  </div>`;
}

const kinds = [
  ['video', 'Videos'],
  ['image', 'Images'],
];

const states = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['submitted', 'Submitted'],
  ['running', 'Running'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
];
