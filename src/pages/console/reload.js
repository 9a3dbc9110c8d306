/** The question: what would change if the file were published now? */
import { errorOf } from '../shared/api.js';
import { Dialog } from '../shared/dialog.js';
import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { ConfigChanges } from './config-changes.js';

/** @typedef {import('./types.d.ts').ConfigChange} ConfigChange */

const path = '/admin/v1/config/reload';

/** @param {{ api: import('./types.d.ts').Api, onClose: () => void }} props */
export function Reload({ api, onClose }) {
  /** @type {import('../shared/live.js').Live<{ changes: readonly ConfigChange[] }>} */
  const preview = useLive(path, () => api.post(path, { dry_run: true }), 0);
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const changes = preview.data?.changes;

  async function publish() {
    setBusy(true);
    setError(undefined);
    try {
      await api.post(path, {});
      onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
    }
  }

  return html`<${Dialog} title="Reload the configuration" onClose=${onClose}>
    <p class="soft">
      The process that answers publishes its gateway.yaml to all. A file with mistakes changes nothing.
    </p>
    <${LiveState} live=${preview} />
    ${
      changes &&
      html`<p>
          ${changes.length === 0 ? 'The file says what is in force already.' : `${counted(changes.length, 'change')}:`}
        </p>
        ${changes.length > 0 && html`<${ConfigChanges} changes=${changes} />`}`
    }
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <div class="row ends">
      <button onClick=${onClose}>Back</button>
      <button class="main" disabled=${isBusy || changes === undefined} onClick=${() => void publish()}>
        Publish the file
      </button>
    </div>
  <//>`;
}
