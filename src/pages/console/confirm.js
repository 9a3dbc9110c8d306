import { errorOf } from '../shared/api.js';
import { Dialog, hold } from '../shared/dialog.js';
import { Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Choice } from './filters.js';

/**
 * An act with its fields, a sentence of what it does, and a button that names it.
 *
 * @typedef {{
 *   name: string, label: string, isOptional?: boolean, value?: string, choices?: readonly (readonly string[])[],
 * }} Field `value`: what it begins with. `choices`: value and title of each.
 *
 * @param {{
 *   title: string,
 *   effect: (written: Record<string, string>) => unknown,
 *   button: string,
 *   fields: readonly Field[],
 *   run: (written: Record<string, string>) => Promise<unknown>,
 *   onClose: () => void,
 * }} props
 */
export function Confirm({ title, effect, button, fields, run, onClose }) {
  const [written, setWritten] = useState(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  );
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  /** @param {MouseEvent & { currentTarget: HTMLButtonElement }} event */
  async function act(event) {
    if (event.currentTarget.form?.reportValidity() === false) return;
    setBusy(true);
    try {
      await run(Object.fromEntries(Object.entries(written).map(([name, value]) => [name, value.trim()])));
      onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
    }
  }

  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${hold}>
      ${fields.map(
        (field, index) =>
          html`<${Entry}
            key=${field.name}
            field=${field}
            isFirst=${index === 0}
            value=${written[field.name] ?? ''}
            onChange=${(/** @type {string} */ value) => setWritten({ ...written, [field.name]: value })}
          />`,
      )}
      <p class="notice">${effect(written)}</p>
      ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
      <div class="row ends">
        <button type="button" onClick=${onClose}>Back</button>
        <button type="button" class="main" disabled=${isBusy} onClick=${act}>${button}</button>
      </div>
    </form>
  <//>`;
}

/**
 * @param {{ field: Field, isFirst: boolean, value: string, onChange: (value: string) => void }} props
 */
function Entry({ field: { name, label, isOptional = false, choices }, isFirst, value, onChange }) {
  if (choices !== undefined)
    return html`<${Choice} label=${label} value=${value} options=${choices} onChange=${onChange} />`;
  return html`<label class="stacked">
    ${label}
    <input
      name=${name}
      required=${!isOptional}
      autofocus=${isFirst}
      autocomplete="off"
      value=${value}
      onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
        onChange(event.currentTarget.value)}
    />
  </label>`;
}
