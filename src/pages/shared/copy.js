import { html, useState } from './preact.js';

/**
 * Browsers offer the clipboard only on secure origins. Resolves to a message to display.
 *
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function copyText(text) {
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  return isCopied === true ? 'Copied.' : 'The browser does not allow copying. Select the text instead.';
}

/** @param {{ text: string, what: string }} props */
export function Copy({ text, what }) {
  const [said, setSaid] = useState('');
  return html`<button
      type="button"
      class="plain small"
      aria-label=${`Copy ${what}`}
      onClick=${() => void copyText(text).then(setSaid)}
    >
      Copy
    </button>
    <span class="small soft" role="status">${said}</span>`;
}
