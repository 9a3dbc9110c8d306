import { Dialog, hold } from '../shared/dialog.js';
import { Label, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { useSaving } from './saving.js';

/**
 * A dialog for forms with several rows. Use `Confirm` for single fields.
 *
 * @template Written
 * @param {{ title: string, button: string, read: () => Written, run: (written: Written & { reason: string }) =>
 * Promise<unknown>, onSaved: () => Promise<void>, onClose: () => void, effect?: string, children?: unknown, }} props
 * `read` returns what the rows contain. `onSaved`: see `useSaving`.
 */
export function ReasonDialog({ title, button, read, effect, children, ...on }) {
  const [reason, setReason] = useState('');
  const { error, isBusy, save, leave } = useSaving(on);

  /** @param {MouseEvent & { currentTarget: HTMLButtonElement }} event */
  function act(event) {
    if (event.currentTarget.form?.reportValidity() === false) return;
    void save({ ...read(), reason: reason.trim() });
  }

  return html`<${Dialog} title=${title} onClose=${leave}>
    <form onSubmit=${hold}>
      ${children}
      <label class="stacked">
        <${Label} text="Reason (kept with your name)" />
        <input
          name="reason"
          required
          autocomplete="off"
          value=${reason}
          onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setReason(event.currentTarget.value)}
        />
      </label>
      ${effect && html`<p class="notice">${effect}</p>`}
      ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
      <div class="row ends">
        <button type="button" class="main" disabled=${isBusy} onClick=${act}>${button}</button>
      </div>
    </form>
  <//>`;
}
