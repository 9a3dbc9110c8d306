import { copyText } from './copy.js';
import { Dialog } from './dialog.js';
import { focused, html, useState } from './preact.js';

/** @param {{ title: string, secret: string, note: unknown, onClose: () => void }} props */
export function Secret({ title, secret, note, onClose }) {
  const [said, setSaid] = useState('');
  return html`<${Dialog} title=${title} onClose=${onClose} isFirm>
    <p class="notice warn">It will not be shown again. Copy it before you close this.</p>
    <pre class="secret" tabindex="0" aria-label="Secret">${secret}</pre>
    <p>${note}</p>
    <div class="row ends">
      <span class="soft" role="status">${said}</span>
      <button ...${focused} onClick=${() => void copyText(secret).then(setSaid)}>Copy</button>
      <button class="main" onClick=${onClose}>I have stored it</button>
    </div>
  <//>`;
}
