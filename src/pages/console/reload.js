import { Dialog } from '../shared/dialog.js';
import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { ConfigChanges } from './config-changes.js';
import { useSaving } from './saving.js';

/** @typedef {import('./types.d.ts').ConfigChange} ConfigChange */

const path = '/admin/v1/config/reload';

/** @param {{ api: import('./types.d.ts').Api, onSaved: () => Promise<void>, onClose: () => void }} props */
export function Reload({ api, onSaved, onClose }) {
  /** @type {import('../shared/live.js').Live<{ changes: readonly ConfigChange[] }>} */
  const preview = useLive(path, () => api.post(path, { dry_run: true }), 0);
  const { error, isBusy, save, leave } = useSaving({ run: () => api.post(path, {}), onSaved, onClose });
  const changes = preview.data?.changes;

  return html`<${Dialog} title="Reload the configuration" onClose=${leave}>
    <p class="soft">
      The process that handles the request publishes its gateway.yaml to all processes. A file with errors
      changes nothing.
    </p>
    <${LiveState} live=${preview} />
    ${
      changes &&
      html`<p>
          ${changes.length === 0 ? 'The file is already active.' : `${counted(changes.length, 'change')}:`}
        </p>
        ${changes.length > 0 && html`<${ConfigChanges} changes=${changes} />`}`
    }
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <div class="row ends">
      <button class="main" disabled=${isBusy || changes === undefined} onClick=${() => void save(undefined)}>
        Publish the file
      </button>
    </div>
  <//>`;
}
