import { copyText } from '../shared/copy.js';
import { html, useState } from '../shared/preact.js';
import { languageNames, writers } from '../shared/code.js';

const copiedMs = 2_000;

/** @param {{ asked: import('../shared/code.js').Asked }} props */
export function Code({ asked }) {
  const [language, setLanguage] = useState(/** @type {keyof typeof writers} */ ('curl'));
  const [said, setSaid] = useState('');
  const text = writers[language](asked);

  async function copy() {
    setSaid(await copyText(text));
    setTimeout(() => setSaid(''), copiedMs);
  }

  return html`<section class="code" aria-label="The same request as code">
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
    <pre tabindex="0"><code>${text}</code></pre>
    <p class="small soft">Put your key into the variable KEY.</p>
  </section>`;
}
