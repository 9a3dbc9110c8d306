import { copyText } from '../shared/copy.js';
import { counted } from '../shared/format.js';
import { html, useState } from '../shared/preact.js';
import { saveBlob } from '../shared/save.js';
import { sourceOf } from '../shared/source.js';
import { dataUrl } from './media.js';

/** @typedef {import('./types.js').Task} Task */
/**
 * @typedef {{ name: string, address: string, link: string, isOurs: boolean }} File `link` is empty if the file is part
 * of the response.
 */

const mediaExtensions = new Map([
  ['video/mp4', 'mp4'],
  ['video/webm', 'webm'],
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/webp', 'webp'],
]);

/** @param {{ tasks: readonly Task[], onClear: () => void }} props */
export function Downloads({ tasks, onClear }) {
  const [said, setSaid] = useState('');
  const [left, setLeft] = useState(/** @type {readonly File[]} */ ([]));
  const [isBusy, setBusy] = useState(false);
  const files = tasks.flatMap(filesOf);
  const links = files.filter(({ link }) => link !== '');

  /** Saves one file at a time, so that only one is in memory. */
  async function save() {
    setBusy(true);
    const unsaved = [];
    for (const [index, file] of files.entries()) {
      setSaid(`Saving ${index + 1} of ${files.length}…`);
      if (!(await isSaved(file))) unsaved.push(file);
    }
    setSaid(`Saved ${counted(files.length - unsaved.length, 'file')}.`);
    setLeft(unsaved);
    setBusy(false);
  }

  return html`<section class="notice" aria-label="Selected tasks">
    <div class="row">
      <span>${counted(tasks.length, 'task')} selected, ${counted(files.length, 'file')}</span>
      <button disabled=${isBusy || files.length === 0} onClick=${save}>Download</button>
      <button
        disabled=${links.length === 0}
        onClick=${() => void copyText(links.map(({ link }) => link).join('\n')).then(setSaid)}
      >
        Copy the links
      </button>
      <button class="plain" onClick=${onClear}>Clear</button>
      <span class="soft" role="status">${said}</span>
    </div>
    ${
      left.length > 0 &&
      html`<p>These files are stored by the upstream, or their links have expired. Open them one by one:</p>
        <ul>
          ${left.map(({ name, address }) => html`<li><a href=${address} target="_blank" rel="noreferrer">${name}</a></li>`)}
        </ul>`
    }
  </section>`;
}

/** @param {Task} task @returns {File[]} */
function filesOf({ id, data }) {
  return data.flatMap(({ url = '', b64_json: base64 }, index) => {
    const name = data.length === 1 ? id : `${id}-${index + 1}`;
    if (base64 !== undefined) return [{ name, address: dataUrl(base64), link: '', isOurs: true }];
    const { src, isOurs } = sourceOf(url);
    return src === '' ? [] : [{ name, address: src, link: url, isOurs }];
  });
}

/** @param {File} file */
async function isSaved({ name, address, link, isOurs }) {
  if (!isOurs) return false;
  try {
    const blob = link === '' ? decoded(address) : await loaded(address);
    const extension = mediaExtensions.get(blob.type.replace(/;.*$/, ''));
    saveBlob(blob, extension === undefined ? name : `${name}.${extension}`);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} address */
async function loaded(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.blob();
}

/** Decodes a data URL, because the page's content security policy forbids fetching it. @param {string} address */
function decoded(address) {
  const [, type = '', base64 = ''] = /^data:([^;]*);base64,(.*)$/s.exec(address) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type });
}
