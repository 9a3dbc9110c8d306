import { errorOf } from '../shared/api.js';
import { Choice } from '../shared/choice.js';
import { Dialog, hold } from '../shared/dialog.js';
import { html, useState } from '../shared/preact.js';
import { Mistake } from './confirm.js';

/** @typedef {{ verdict: 'accepted' | 'refused' | 'unclear' | 'untested', words: string }} Answer */

const path = '/admin/v1/config/draft/credentials/try';
/** @type {Record<Answer['verdict'], string>} */
const tones = { accepted: 'good', refused: 'bad', unclear: 'warn', untested: 'warn' };

/**
 * @param {{
 *   api: import('./types.d.ts').Api, channels: import('./types.d.ts').ConfigDraft['channels'], onClose: () => void,
 * }} props
 */
export function TestKey({ api, channels, onClose }) {
  const tested = channels.filter(({ credentials }) => credentials.length > 0);
  const [chosen, choose] = useState({ channel: '', credential: '' });
  const channel = tested.find(({ id }) => id === chosen.channel) ?? tested[0];
  const credential = channel?.credentials.find((id) => id === chosen.credential) ?? channel?.credentials[0];
  const [answer, setAnswer] = useState(/** @type {Answer | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  /** @param {typeof chosen} other */
  function select(other) {
    choose(other);
    setAnswer(undefined);
    setError(undefined);
  }

  async function test() {
    setBusy(true);
    select(chosen);
    try {
      /** @type {Answer} */
      const said = await api.post(path, { channel: channel?.id, credential });
      setAnswer(said);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
  }

  return html`<${Dialog} title="Test a key of the draft" onClose=${onClose}>
    <form onSubmit=${hold}>
      ${
        channel === undefined
          ? html`<p class="soft">The draft has no channel with a key.</p>`
          : html`<${Choice}
                label="Channel"
                isFirst
                value=${channel.id}
                options=${tested.map(({ id, provider }) => [id, `${id} (${provider})`])}
                onChange=${(/** @type {string} */ id) => select({ channel: id, credential: '' })}
              />
              <${Choice}
                label="Credential"
                value=${credential}
                options=${channel.credentials.map((id) => [id, id])}
                onChange=${(/** @type {string} */ id) => select({ channel: channel.id, credential: id })}
              />`
      }
      <p class="notice">The gateway sends the vendor one request that is free of charge.</p>
      ${answer && html`<p class=${`notice ${tones[answer.verdict]}`} role="status">${answer.words}</p>`}
      <${Mistake} error=${error} />
      <div class="row ends">
        <button
          type="button"
          class="main"
          disabled=${isBusy || channel === undefined}
          onClick=${() => void test()}
        >
          Test
        </button>
      </div>
    </form>
  <//>`;
}
