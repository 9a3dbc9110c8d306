import { copyText } from '../shared/copy.js';
import { html, useState } from '../shared/preact.js';
import { languageNames, writers } from '../shared/code.js';
import { session } from './session.js';

const copiedMs = 2_000;

/** @param {{ asked: import('../shared/code.js').Asked, model: string }} props */
export function Code({ asked, model }) {
  const [language, setLanguage] = useState(/** @type {keyof typeof writers} */ ('curl'));
  const [hasOwnKey, setOwnKey] = useState(false);
  const [said, setSaid] = useState('');
  const isRunnable = language === 'curl' && hasOwnKey;

  async function copy() {
    const whole = writers[language]({ ...asked, isWhole: true });
    setSaid(await copyText(isRunnable ? `KEY='${session.token() ?? ''}'\n${whole}` : whole));
    setTimeout(() => setSaid(''), copiedMs);
  }

  return html`<section class="code" aria-label=${`The request to ${model} as code`}>
    <div class="row apart">
      <div class="row" role="group" aria-label="Language">
        ${
          /** @type {(keyof typeof writers)[]} */ (Object.keys(languageNames)).map(
            (name) =>
              html`<button aria-pressed=${name === language} onClick=${() => setLanguage(name)}>
                ${languageNames[name]}
              </button>`,
          )
        }
      </div>
      <div class="row">
        <span class="soft" role="status">${said}</span
        ><button onClick=${copy}>Copy as ${languageNames[language]}</button>
      </div>
    </div>
    <pre tabindex="0"><code>${writers[language](asked)}</code></pre>
    ${
      language === 'curl' &&
      html`<label class="check small">
        <input type="checkbox" checked=${hasOwnKey} onChange=${() => setOwnKey(!hasOwnKey)} />
        Copy it with my key
      </label>`
    }
    <p class="small soft">
      ${
        isRunnable
          ? 'You can run the copy in a shell as it is. It contains your key, so do not share it.'
          : 'Set the variable KEY to your key.'
      }
    </p>
  </section>`;
}
