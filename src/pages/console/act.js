/** The question: what would this act do to the task and to the money? */
import { errorOf } from '../shared/api.js';
import { Dialog } from '../shared/dialog.js';
import { Prose, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { ActFields, actBody, actNamed } from './act-fields.js';

/** @typedef {import('./types.d.ts').Said} Said */

/**
 * One act on one task: filled in, previewed, then done. A change after the preview asks for another one.
 *
 * @param {{ api: import('./types.d.ts').Api, task: string, action: import('./act-fields.js').ActionName, onClose: () => void }} props
 */
export function Act({ api, task, action, onClose }) {
  const [written, setWritten] = useState(/** @type {Record<string, string>} */ ({}));
  const [preview, setPreview] = useState(/** @type {Said | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const { title, risk } = actNamed(action);

  /** @param {boolean} dryRun */
  async function send(dryRun) {
    setBusy(true);
    setError(undefined);
    try {
      const body = { ...actBody(action, written), ...(dryRun ? { dry_run: true } : {}) };
      /** @type {{ result: { would?: Said } }} */
      const { result } = await api.post(`/admin/v1/tasks/${encodeURIComponent(task)}/actions`, body);
      if (dryRun) setPreview(result.would);
      else onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
      setPreview(undefined);
    }
    setBusy(false);
  }

  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form
      onSubmit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        void send(preview === undefined);
      }}
    >
      <${ActFields}
        action=${action}
        written=${written}
        onChange=${(/** @type {Record<string, string>} */ changed) => {
          setWritten(changed);
          setPreview(undefined);
        }}
      />
      ${preview && html`<${Preview} said=${preview} />`}
      ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
      <div class="row ends">
        <button type="button" onClick=${onClose}>Back</button>
        <button
          class=${risk === 'ends' && preview !== undefined ? 'main destructive' : 'main'}
          disabled=${isBusy}
        >
          ${preview === undefined ? 'Preview' : `${title} now`}
        </button>
      </div>
    </form>
  <//>`;
}

/** @param {{ said: Said }} props */
function Preview({ said }) {
  return html`<div class="notice good" role="status">
    <p class="small soft">Nothing has been done yet. It would do this:</p>
    <dl class="facts">
      <dt>Task</dt>
      <dd><${Prose} text=${said.task} /></dd>
      <dt>Money</dt>
      <dd><${Prose} text=${said.money} /></dd>
    </dl>
  </div>`;
}
