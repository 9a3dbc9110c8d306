import { errorOf } from '../shared/api.js';
import { Choice } from '../shared/choice.js';
import { Dialog, hold } from '../shared/dialog.js';
import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Mistake } from './confirm.js';
import { NewElement } from './entry-elements.js';

/** @typedef {import('./types.d.ts').ConfigDraftEntry} Entry */
/** @typedef {Entry['fields'][number]} Field */

const path = '/admin/v1/config/draft';

/**
 * The gateway derives the fields from the configuration schema.
 *
 * @param {{
 *   api: import('./types.d.ts').Api, start: string, onSaved: () => Promise<void>, onClose: () => void,
 * }} props `start` is the pointer of the entry to show first.
 */
export function EntryForm({ api, start, onSaved, onClose }) {
  const [trail, setTrail] = useState(/** @type {readonly string[]} */ (start === '' ? [''] : ['', start]));
  const pointer = trail.at(-1) ?? '';
  const entryPath = `${path}/entry?pointer=${encodeURIComponent(pointer)}`;
  /** @type {import('../shared/live.js').Live<Entry>} */
  const live = useLive(entryPath, (signal) => api.get(entryPath, signal), 0);
  const entry = live.data?.pointer === pointer ? live.data : undefined;
  const up = trail.slice(0, -1);

  /** @param {object} change */
  async function edit(change) {
    await api.put(path, { revision: entry?.revision, ...change });
    await onSaved();
  }

  /** @param {string} group @param {string | undefined} name */
  async function insert(group, name) {
    await edit({ insert: { pointer: group, name } });
    /** @type {Entry} */
    const after = await api.get(entryPath);
    const added = after.entries.find((one) =>
      entry?.entries.every(({ pointer: known }) => known !== one.pointer),
    );
    if (added === undefined) await live.refresh();
    else setTrail([...trail, added.pointer]);
  }

  async function remove() {
    await edit({ set: { [pointer]: null } });
    setTrail(up);
  }

  return html`<${Dialog} title="Edit an entry" onClose=${onClose}>
    <form onSubmit=${hold}>
      <${Choice}
        label="Entry"
        isFirst
        value=${pointer}
        options=${[
          [pointer, pointer === '' ? 'Settings of the whole file' : pointer],
          ...up.map((one) => [one, `Back to ${one === '' ? 'the whole file' : one}`]),
          ...(entry?.entries ?? []).map((one) => [
            one.pointer,
            `${one.name}${one.present ? '' : ' (not set)'}`,
          ]),
        ]}
        onChange=${(/** @type {string} */ chosen) => {
          const at = trail.indexOf(chosen);
          setTrail(at < 0 ? [...trail, chosen] : trail.slice(0, at + 1));
        }}
      />
      <${LiveState} live=${live} />
      ${
        entry !== undefined &&
        html`<${Fields}
            key=${pointer}
            entry=${entry}
            onSave=${(/** @type {Record<string, unknown>} */ set) => edit({ set }).then(live.refresh)}
            onRemove=${remove}
          />
          <${NewElement} key=${`groups ${pointer}`} groups=${entry.groups} insert=${insert} />`
      }
    </form>
  <//>`;
}

/**
 * @param {{
 *   entry: Entry, onSave: (values: Record<string, unknown>) => Promise<void>, onRemove: () => Promise<void>,
 * }} props `onSave` resolves when the entry has the saved values.
 */
function Fields({ entry: { fields, pointer: at, removable }, onSave, onRemove }) {
  const [written, setWritten] = useState(/** @type {Record<string, string>} */ ({}));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isSaved, setSaved] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const changed = fields.filter((field) => (written[field.pointer] ?? textOf(field)) !== textOf(field));

  async function save() {
    await onSave(valuesOf(changed, written));
    // Keep whatever the operator has typed since saving began.
    setWritten((now) => without(now, written));
    setSaved(true);
  }

  /** @param {() => Promise<void>} act */
  async function attempt(act) {
    setBusy(true);
    try {
      await act();
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
  }

  return html`
    ${
      fields.length === 0 &&
      html`<p class="soft">${at} has no fields of its own. Choose an entry below it, or edit the text.</p>`
    }
    ${fields.map(
      (field, index) =>
        html`<${Input}
          id=${`field-${index}`}
          key=${field.pointer}
          field=${field}
          value=${written[field.pointer] ?? textOf(field)}
          onChange=${(/** @type {string} */ value) => {
            setSaved(false);
            setWritten((now) => ({ ...now, [field.pointer]: value }));
          }}
        />`,
    )}
    ${isSaved && html`<${Saved} isWrong=${fields.some(({ mistakes }) => mistakes.length > 0)} />`}
    <${Mistake} error=${error} others=${[]} />
    <div class="row ends">
      ${removable && html`<button type="button" onClick=${() => void attempt(onRemove)}>Remove from the draft</button>`}
      <button
        type="button"
        class="main"
        disabled=${isBusy || changed.length === 0}
        onClick=${() => void attempt(save)}
      >
        Save in the draft
      </button>
    </div>
  `;
}

/** @param {{ isWrong: boolean }} props */
function Saved({ isWrong }) {
  return html`<p class=${`notice ${isWrong ? 'warn' : 'good'}`} role="status">
    Saved in the draft${isWrong ? ', with the errors above' : ''}.
  </p>`;
}

/** @param {Record<string, string>} written @param {Record<string, string>} saved */
function without(written, saved) {
  return Object.fromEntries(Object.entries(written).filter(([name, value]) => value !== saved[name]));
}

/** @param {{ id: string, field: Field, value: string, onChange: (value: string) => void }} props */
function Input({ id, field, value, onChange }) {
  const { name, type, required, mistakes } = field;
  const choices = choicesOf(field);
  const isWrong = mistakes.length > 0;
  const common = {
    id,
    name,
    required,
    'aria-describedby': `${id}-about`,
    'aria-invalid': isWrong,
    value,
    [choices === undefined ? 'onInput' : 'onChange']: (
      /** @type {Event & { currentTarget: HTMLInputElement | HTMLSelectElement }} */ event,
    ) => onChange(event.currentTarget.value),
  };
  return html`<div class="stacked">
    <label for=${id}>${name}</label>
    ${
      choices === undefined
        ? html`<input
            ...${common}
            type=${type === 'secret' ? 'password' : 'text'}
            autocomplete="off"
            spellcheck=${false}
          />`
        : html`<select ...${common}>
            ${choices.map(([one, title]) => html`<option value=${one} selected=${one === value}>${title}</option>`)}
          </select>`
    }
    <span id=${`${id}-about`}>
      ${isWrong && html`<span class="mistake" role="alert">${mistakes.join('; ')}. </span>`}
      <span class="soft small">${aboutOf(field)}</span>
    </span>
  </div>`;
}

/** @param {Field} field @returns {readonly (readonly [string, string])[] | undefined} */
function choicesOf({ type, options, required, value }) {
  if (type !== 'choice' && type !== 'boolean') return undefined;
  /** @type {readonly (readonly [string, string])[]} */
  const unset = required && value !== null ? [] : [['', 'not set']];
  const values = type === 'boolean' ? ['true', 'false'] : options;
  return [...unset, ...values.map((one) => /** @type {const} */ ([one, one]))];
}

/** @param {Field} field */
function aboutOf({ type, description, required, default: fallback, value }) {
  const sentences = [
    description,
    type === 'texts' || type === 'numbers' ? 'Separate several with commas' : '',
    type === 'secret' ? 'Sealed immediately and never shown. Leave the field empty to keep the secret' : '',
    type === 'secret' && value !== null ? `Now ${shown(value)}` : '',
    required ? 'Required' : '',
    fallback === null ? '' : `Default: ${shown(fallback) || 'empty'}`,
  ];
  return sentences
    .filter(Boolean)
    .map((sentence) => `${sentence}.`)
    .join(' ');
}

/** @param {Field['value']} value */
function shown(value) {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
}

/** @param {Field} field */
function textOf({ type, value }) {
  return type === 'secret' ? '' : shown(value);
}

/** @param {readonly Field[]} fields @param {Record<string, string>} written */
function valuesOf(fields, written) {
  /** @type {Record<string, unknown>} */
  const values = {};
  for (const field of fields) values[field.pointer] = valueOf(field, written[field.pointer] ?? '');
  return values;
}

/**
 * An empty input becomes null, which removes the field.
 *
 * @param {Field} field
 * @param {string} written
 */
function valueOf({ type }, written) {
  const text = written.trim();
  if (text === '') return null;
  if (type === 'texts' || type === 'numbers') {
    const items = text.split(',').flatMap((item) => item.trim() || []);
    return type === 'texts' ? items : items.map(numberOr);
  }
  if (type === 'boolean') return text === 'true';
  return type === 'number' ? numberOr(text) : text;
}

/** Invalid text stays unchanged, so that the gateway's error states what it expects. @param {string} text */
function numberOr(text) {
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
