import { ApiError, errorOf } from '../shared/api.js';
import { html, useState } from '../shared/preact.js';

/** @typedef {Event & { currentTarget: HTMLInputElement }} InputChange */

const uploadMs = 600_000;

/**
 * @param {{ field: import('./request.js').Field, value: string | boolean, onChange: (value: string | boolean) => void }} props
 */
export function FieldInput({ field: { title, options, range, isFlag }, value, onChange }) {
  if (isFlag === true) {
    return html`<label class="check">
      <input
        type="checkbox"
        checked=${value === true}
        onChange=${(/** @type {InputChange} */ event) => onChange(event.currentTarget.checked)}
      />
      ${title}
    </label>`;
  }
  if (options !== undefined) {
    return html`<label class="field">
      ${title}
      <select
        value=${value}
        onChange=${(/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => onChange(event.currentTarget.value)}
      >
        <option value="">Default</option>
        ${options.map((option) => html`<option value=${option} selected=${option === value}>${option}</option>`)}
      </select>
    </label>`;
  }
  return html`<label class="field">
    ${title}
    <input
      type="number"
      min=${range?.min}
      max=${range?.max}
      step=${range?.step}
      placeholder="Default"
      value=${value}
      onInput=${(/** @type {InputChange} */ event) => onChange(event.currentTarget.value)}
    />
  </label>`;
}

/**
 * @param {{
 *   api: import('../shared/api.js').Api, name: string, max: number, fileBytesMax: number, addresses: readonly string[],
 *   onChange: (change: (addresses: readonly string[]) => readonly string[]) => void,
 * }} props `onChange` takes a function, because the form may change during an upload.
 */
export function MediaInput({ api, name, max, fileBytesMax, addresses, onChange }) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  if (max === 0) return null;

  /** @param {InputChange} event */
  async function addFile(event) {
    const input = event.currentTarget;
    const file = input.files?.[0];
    if (file === undefined) return;
    setProblem('');
    setBusy(true);
    try {
      const address = await addressOf(file, api, fileBytesMax);
      onChange((now) => [...now, address]);
    } catch (thrown) {
      setProblem(errorOf(thrown).message);
    }
    setBusy(false);
    input.value = '';
  }

  const isFull = addresses.length >= max;
  const title = name === 'audios' ? 'Audio' : name === 'videos' ? 'Videos' : 'Images';
  return html`<fieldset>
    <legend>${title} <span class="soft small">at most ${max}</span></legend>
    <ul class="media">
      ${addresses.map(
        (address, index) =>
          html`<li>
            ${pictureOf(address) !== '' && html`<img src=${pictureOf(address)} alt="" />`}
            <span>${shownAs(address)}</span>
            <button type="button" onClick=${() => onChange((now) => now.filter((_, at) => at !== index))}>
              Remove
            </button>
          </li>`,
      )}
    </ul>
    <div class="row">
      <${AddressInput}
        title=${title}
        isFull=${isFull}
        onAdd=${(/** @type {string} */ address) => onChange((now) => [...now, address])}
      />
      <input
        type="file"
        accept=${`${kindOf(name)}/*`}
        aria-label=${`File of ${title.toLowerCase()}`}
        disabled=${isFull || isBusy}
        onChange=${addFile}
      />
    </div>
    ${isBusy && html`<p class="soft" role="status">Uploading…</p>`}
    ${problem !== '' && html`<p class="notice warn" role="alert">${problem}</p>`}
  </fieldset>`;
}

/** @param {string} name */
const kindOf = (name) => name.slice(0, -1);

/** @type {Map<string, { name: string, picture: string }>} */
const uploads = new Map();
const megabyte = 1_000_000;
const pictureBytesMax = 2_000_000;

/**
 * An image within `inRequestMax` becomes a data URL, unless requests are limited to a megabyte. All other files are
 * uploaded.
 * @param {File} file
 * @param {import('../shared/api.js').Api} api
 * @param {number} inRequestMax
 */
async function addressOf(file, api, inRequestMax) {
  const fits = file.size <= inRequestMax && file.type.startsWith('image/');
  if (fits && inRequestMax > megabyte) return dataUrlOf(file);
  const form = new FormData();
  form.append('file', file);
  try {
    /** @type {{ id: string }} */
    const { id } = await api.post('/v1/files', form, { answerMs: uploadMs });
    const isPicture = file.type.startsWith('image/') && file.size <= pictureBytesMax;
    uploads.set(`asset://${id}`, { name: file.name, picture: isPicture ? await dataUrlOf(file) : '' });
    return `asset://${id}`;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'route_not_found') throw error;
    if (fits) return dataUrlOf(file);
    throw new Error(
      `This gateway stores no files, and ${file.name} is too large for the request. Enter its address instead.`,
    );
  }
}

/** @param {string} address */
function pictureOf(address) {
  return address.startsWith('data:image/') ? address : (uploads.get(address)?.picture ?? '');
}

/** @param {string} address */
function shownAs(address) {
  const upload = uploads.get(address);
  if (upload !== undefined) return upload.name;
  const [, type] = /^data:([\w/+.-]+);base64,/.exec(address) ?? [];
  return type === undefined ? address.slice(0, 80) : `${type}, ${Math.ceil((address.length * 3) / 4000)} kB`;
}

/** @param {{ title: string, isFull: boolean, onAdd: (address: string) => void }} props */
function AddressInput({ title, isFull, onAdd }) {
  const [typed, setTyped] = useState('');

  function add() {
    if (typed.trim() !== '') onAdd(typed.trim());
    setTyped('');
  }

  return html`<input
      type="url"
      aria-label=${`Address of ${title.toLowerCase()}`}
      placeholder="https://…"
      disabled=${isFull}
      value=${typed}
      onInput=${(/** @type {InputChange} */ event) => setTyped(event.currentTarget.value)}
      onChange=${add}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
        // Without this, Enter would submit the form without this URL.
        if (event.key !== 'Enter') return;
        event.preventDefault();
        add();
      }}
    />
    <button type="button" disabled=${isFull || typed.trim() === ''} onClick=${add}>Add</button>`;
}

/**
 * @param {File} file
 * @returns {Promise<string>}
 */
function dataUrlOf(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The file cannot be read.')));
    reader.readAsDataURL(file);
  });
}
