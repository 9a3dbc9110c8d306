import { copyText } from '../shared/copy.js';
import { Dialog } from '../shared/dialog.js';
import { html, useState } from '../shared/preact.js';

/**
 * A secret that the gateway states once: it is in this dialog and nowhere else, and gone when that is closed.
 *
 * @param {{ title: string, secret: string, note: string, onClose: () => void }} props
 */
export function Secret({ title, secret, note, onClose }) {
  const [said, setSaid] = useState('');
  return html`<${Dialog} title=${title} onClose=${onClose} isFirm>
    <p class="notice warn">It is shown this once. Copy it before you close this.</p>
    <pre class="secret" tabindex="0" aria-label="Secret">${secret}</pre>
    <p>${note}</p>
    <div class="row ends">
      <span class="soft" role="status">${said}</span>
      <button autofocus onClick=${() => void copyText(secret).then(setSaid)}>Copy</button>
      <button class="main" onClick=${onClose}>It is stored</button>
    </div>
  <//>`;
}
