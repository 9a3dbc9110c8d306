import { Choice } from '../shared/choice.js';
import { ApiError } from '../shared/api.js';
import { Dialog, hold } from '../shared/dialog.js';
import { Label, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { useSaving } from './saving.js';

/** @typedef {import('./field.d.ts').Field} Field */

/**
 * @param {{
 *   title: string,
 *   effect: (written: Record<string, string>) => unknown,
 *   button: string,
 *   fields: readonly Field[],
 *   run: (written: Record<string, string>) => Promise<unknown>,
 *   onSaved?: () => Promise<void>,
 *   onClose: () => void,
 * }} props `onSaved`: see `useSaving`.
 */
export function Confirm({ title, effect, button, fields, run, onSaved, onClose }) {
  const [written, setWritten] = useState(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  );
  const { error, isBusy, save, leave, forget } = useSaving({ run, onSaved, onClose });
  const entryOf = (/** @type {Field} */ field, /** @type {number} */ index) =>
    html`<${Entry}
      key=${field.name}
      field=${field}
      isFirst=${index === 0}
      error=${error}
      value=${written[field.name] ?? ''}
      onChange=${(/** @type {string} */ value) => {
        setWritten({ ...written, [field.name]: value });
        if (mistakeAt(error, field.param ?? field.name) !== undefined) forget();
      }}
    />`;
  const rare = fields.filter(({ isRare = false }) => isRare);
  const params = fields.map(({ name, param = name }) => param);

  /** @param {MouseEvent & { currentTarget: HTMLButtonElement }} event */
  function act(event) {
    if (event.currentTarget.form?.reportValidity() === false) return;
    void save(Object.fromEntries(Object.entries(written).map(([name, value]) => [name, value.trim()])));
  }

  return html`<${Dialog} title=${title} onClose=${leave}>
    <form onSubmit=${hold}>
      ${fields.filter(({ isRare = false }) => !isRare).map(entryOf)}
      ${
        rare.length > 0 &&
        html`<details
          open=${rare.some(({ name, param = name }) => mistakeAt(error, param) !== undefined) || undefined}
        >
          <summary>More limits</summary>
          ${rare.map((field) => entryOf(field, -1))}
        </details>`
      }
      <p class="notice">${effect(written)}</p>
      <${Mistake} error=${error} others=${params} />
      <div class="row ends">
        <button type="button" class="main" disabled=${isBusy} onClick=${act}>${button}</button>
      </div>
    </form>
  <//>`;
}

/**
 * Creates an error for a problem that only the page detects. `param` is the field with the wrong value, or empty.
 *
 * @param {string} param
 * @param {string} message
 */
export function mistake(param, message) {
  return new ApiError({ status: 400, code: '', param, message, requestId: '' });
}

/**
 * Returns undefined unless the error concerns the parameter `name` or a part of it. For example, `models[0]` is a part
 * of `models`.
 *
 * @param {Error | undefined} error
 * @param {string} name
 */
export function mistakeAt(error, name) {
  if (!(error instanceof ApiError) || error.param.split(/[.[]/)[0] !== name) return undefined;
  return error.message.replace(/^The parameter \S+ (must|is) /, 'It $1 ');
}

/**
 * If `name` is undefined, shows an error that concerns none of the fields in `others`.
 *
 * @param {{ error: Error | undefined, name?: string, others?: readonly string[] }} props
 */
export function Mistake({ error, name, others = [] }) {
  if (name !== undefined) {
    const words = mistakeAt(error, name);
    return words === undefined
      ? null
      : html`<p class="mistake" id=${`mistake-${name}`} role="alert">${words}</p>`;
  }
  if (error === undefined || others.some((other) => mistakeAt(error, other) !== undefined)) return null;
  return html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`;
}

/**
 * @param {{
 *   field: Field, isFirst: boolean, value: string, error: Error | undefined, onChange: (value: string) => void,
 * }} props
 */
function Entry({ field, isFirst, value, error, onChange }) {
  const { name, param = name, label, isOptional = false, choices, picks } = field;
  const refused = html`<${Mistake} name=${param} error=${error} />`;
  const isWrong = mistakeAt(error, param) !== undefined;
  if (picks !== undefined)
    return html`<${Picks} label=${label} picks=${picks} value=${value} onChange=${onChange} />${refused}`;
  if (choices !== undefined)
    return html`<${Choice}
        label=${label}
        value=${value}
        options=${choices}
        onChange=${onChange}
      />${refused}`;
  return html`<label class="stacked">
      <${Label} text=${label} />
      <input
        name=${name}
        required=${!isOptional}
        autofocus=${isFirst}
        autocomplete="off"
        aria-invalid=${isWrong}
        aria-describedby=${isWrong ? `mistake-${param}` : undefined}
        value=${value}
        onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
          onChange(event.currentTarget.value)}
      />
    </label>
    ${refused}`;
}

/**
 * @param {{ label: string, picks: readonly (readonly string[])[], value: string, onChange: (value: string) => void }} props
 */
function Picks({ label, picks, value, onChange }) {
  const picked = value.split(',').filter(Boolean);
  return html`<fieldset class="picks">
    <legend><${Label} text=${label} /></legend>
    ${picks.map(
      ([name = '', title]) =>
        html`<label>
          <input
            type="checkbox"
            checked=${picked.includes(name)}
            onChange=${() =>
              onChange(
                (picked.includes(name) ? picked.filter((one) => one !== name) : [...picked, name]).join(','),
              )}
          />
          ${title}
        </label>`,
    )}
  </fieldset>`;
}
