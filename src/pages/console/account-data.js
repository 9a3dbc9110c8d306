import { counted, money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Facts, LiveState, Refusal } from '../shared/parts.js';
import { Dialog, hold } from '../shared/dialog.js';
import { html, useRef, useState } from '../shared/preact.js';
import { saveBlob } from '../shared/save.js';
import { Confirm, mistake } from './confirm.js';
import { useSaving } from './saving.js';

/**
 * @typedef {{
 *   api: import('./types.d.ts').Api, path: string, account: import('./types.d.ts').Account, currency: string,
 *   onIssued: (secret: string) => void, onSaved: () => Promise<void>, onClose: () => void,
 * }} Props `path`: the account's path in the API.
 */
/**
 * @typedef {{
 *   obstacles: readonly string[], removes: { keys: number, tasks: number }, keeps: { ledger_entries: number },
 *   reason: string,
 * }} Deletion
 */

const reason = { name: 'reason', label: 'Reason (kept with your name)' };

/** @param {Props} props */
export function ReplaceSecret({ api, path, account, onIssued, onSaved, onClose }) {
  return html`<${Confirm}
    title=${`Replace the webhook secret of ${account.id}`}
    button="Replace it"
    fields=${[reason]}
    effect=${() => 'The new secret is shown once, here. The two previous secrets stay valid, because callbacks carry a signature for each valid secret. The next replacement invalidates the older of them.'}
    run=${async (/** @type {Record<string, string>} */ written) => {
      /** @type {{ webhook_secret: string }} */
      const { webhook_secret: secret } = await api.post(`${path}/webhook-secret/rotate`, written);
      onIssued(secret);
    }}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/** @typedef {{ threshold: string | null, caps: boolean, url: string | null, undelivered: number }} Alert */

/** @param {Props} props */
export function AccountAlert({ api, path, account, currency, onSaved, onClose }) {
  /** @type {import('../shared/live.js').Live<Alert>} */
  const live = useLive(`${path}/alert`, (signal) => api.get(`${path}/alert`, signal), 0);
  const title = `Alert of ${account.id}`;
  if (live.data === undefined)
    return html`<${Dialog} title=${title} onClose=${onClose}><${LiveState} live=${live} /><//>`;
  const { threshold, caps, url, undelivered } = live.data;
  return html`<${Confirm}
    title=${title}
    button="Set the alert"
    fields=${[
      {
        name: 'threshold',
        label: `When less than this is available, in ${currency} (empty: no event)`,
        value: threshold === null ? '' : money(threshold).replaceAll(',', ''),
        isOptional: true,
      },
      {
        name: 'caps',
        label: 'When a cap is nearly used up',
        value: String(caps),
        choices: [
          ['false', 'No event'],
          ['true', 'An event'],
        ],
      },
      {
        name: 'url',
        label: `Address that receives the events ${url === null ? '(empty: none)' : `(currently ${url}; enter the full address again, including its query string)`}`,
        isOptional: true,
      },
      reason,
    ]}
    effect=${(/** @type {Record<string, string>} */ { threshold: below = '', caps: about }) =>
      below.trim() === '' && about !== 'true'
        ? 'No more events are posted.'
        : `Events are signed with the account’s webhook secret.${undelivered > 0 ? ` The address has not accepted ${counted(undelivered, 'event')} yet.` : ''}`}
    run=${(/** @type {Record<string, string>} */ { caps: about, ...written }) => {
      const given = Object.entries(written).filter(([, value]) => value !== '');
      return api.post(`${path}/alert`, { ...Object.fromEntries(given), caps: about === 'true' });
    }}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/** @param {Props} props */
export function ExportAccount({ api, path, account, onClose }) {
  return html`<${Confirm}
    title=${`Export ${account.id}`}
    button="Export"
    fields=${[]}
    effect=${() => `Saves the account, its keys without secrets, its tasks with their requests and its ledger, one JSON object per line. The file contains what the account’s users wrote. For accounts with many tasks, use “gateway accounts export ${account.id}”, which has no time limit.`}
    run=${async () => {
      /** @type {string} */
      const text = await api.get(`${path}/export`);
      if (!text.includes('{"object":"export.end"'))
        throw mistake('', 'The export is incomplete. Use the command instead.');
      saveBlob(new Blob([text], { type: 'application/x-ndjson' }), `account-${account.id}.jsonl`);
    }}
    onClose=${onClose}
  />`;
}

/** @param {Props} props */
export function DeleteAccount(props) {
  const { api, path, account, onClose } = props;
  const [plan, setPlan] = useState(/** @type {Deletion | undefined} */ (undefined));
  const isPlanned = useRef(false);
  if (plan !== undefined) return html`<${Deletion} ...${props} plan=${plan} />`;
  return html`<${Confirm}
    title=${`Delete ${account.id}`}
    button="Preview"
    fields=${[reason]}
    effect=${() => 'First shows what would be removed and what would be kept. Nothing is changed yet.'}
    run=${async (/** @type {Record<string, string>} */ written) => {
      /** @type {Omit<Deletion, 'reason'>} */
      const preview = await api.post(`${path}/delete`, { ...written, dry_run: true });
      isPlanned.current = true;
      setPlan({ ...preview, reason: written['reason'] ?? '' });
    }}
    onClose=${() => {
      // After a successful preview, the next dialog takes over.
      if (!isPlanned.current) onClose();
    }}
  />`;
}

/** @param {Props & { plan: Deletion }} props */
function Deletion({ api, path, account: { id }, plan, onSaved, onClose }) {
  const [typed, setTyped] = useState('');
  const { obstacles, removes, keeps, reason: why } = plan;
  const { error, isBusy, save, leave } = useSaving({
    run: () => api.post(`${path}/delete`, { reason: why }),
    onSaved,
    onClose,
  });
  const isPossible = obstacles.length === 0;
  return html`<${Dialog} title=${`Delete ${id}`} onClose=${leave}>
    <form onSubmit=${hold}>
      ${obstacles.map((text) => html`<p class="notice warn">${text}</p>`)}
      <${Facts}
        rows=${[
          [
            'Is removed',
            `${counted(removes.keys, 'key')}, ${counted(removes.tasks, 'task')} with requests and results, the alert and the name`,
          ],
          [
            'Is kept',
            `${keeps.ledger_entries.toLocaleString('en')} ledger entries, and the record of the deletion`,
          ],
        ]}
      />
      ${
        isPossible &&
        html`<p class="notice bad">
            The data is removed from twenty minutes after the account was closed. This cannot be undone.
          </p>
          <label class="stacked">
            Type the account’s id to confirm
            <input
              autocomplete="off"
              value=${typed}
              onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setTyped(event.currentTarget.value)}
            />
          </label>`
      }
      ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
      <div class="row ends">
        <button
          type="button"
          class="destructive"
          disabled=${isBusy || !isPossible || typed.trim() !== id}
          onClick=${() => void save(undefined)}
        >
          Delete the account
        </button>
      </div>
    </form>
  <//>`;
}
