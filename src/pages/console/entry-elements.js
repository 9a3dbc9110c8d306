import { errorOf } from '../shared/api.js';
import { Choice } from '../shared/choice.js';
import { html, useState } from '../shared/preact.js';
import { Mistake } from './confirm.js';

/** @typedef {import('./types.d.ts').ConfigDraftEntry} Entry */

/** @param {{ groups: Entry['groups'], insert: (group: string, name: string | undefined) => Promise<void> }} props */
export function NewElement({ groups, insert }) {
  const [pointer, setPointer] = useState(groups[0]?.pointer ?? '');
  const [name, setName] = useState('');
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const group = groups.find((one) => one.pointer === pointer);
  if (group === undefined) return null;
  const { key, description } = group;

  async function add() {
    try {
      await insert(pointer, key === 'none' ? undefined : name.trim());
      setName('');
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  return html`<fieldset class="stacked">
    <legend>Add an element</legend>
    <div class="row">
      <${Choice}
        label="To"
        value=${pointer}
        options=${groups.map((one) => [one.pointer, one.name])}
        onChange=${setPointer}
      />
      ${
        key !== 'none' &&
        html`<label class="field">
          <span class="small soft">${key === 'id' ? 'Its id' : 'Its name'}</span>
          <input
            autocomplete="off"
            spellcheck=${false}
            value=${name}
            onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setName(event.currentTarget.value)}
          />
        </label>`
      }
      <button type="button" disabled=${key !== 'none' && name.trim() === ''} onClick=${() => void add()}>
        Add
      </button>
    </div>
    ${description !== '' && html`<p class="soft small">${description}.</p>`}
    <${Mistake} error=${error} />
  </fieldset>`;
}
