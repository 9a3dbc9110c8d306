import { errorOf } from '../shared/api.js';
import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { AddModel } from './add-model.js';
import { Arrival } from './arrival.js';
import { ConfigChanges } from './config-changes.js';
import { Confirm } from './confirm.js';
import { Effect } from './draft-effect.js';
import { EntryForm } from './entry-form.js';
import { PriceForm } from './price-form.js';
import { linkTo } from './router.js';
import { TestKey } from './test-key.js';
import { Versions } from './versions.js';

/** @typedef {import('./types.d.ts').ConfigDraft} Draft */
/** @typedef {Draft['secrets'][number]} Secret */
/** @typedef {import('./types.d.ts').Config} Config */

const path = '/admin/v1/config/draft';

/** @param {import('./types.d.ts').PageProps} props */
export function Configuration({ api, may, currency }) {
  /** @type {import('../shared/live.js').Live<Draft>} */
  const live = useLive(path, (signal) => api.get(path, signal), 0);
  const [open, setOpen] = useState('');
  const [isEditing, setEditing] = useState(false);
  const [published, setPublished] = useState(/** @type {Config | undefined} */ (undefined));
  const draft = live.data;
  if (!may('editConfigDraft') || draft === undefined)
    return html`<main>
      <h1>Configuration</h1>
      ${may('editConfigDraft') && html`<${LiveState} live=${live} />`}
      ${!may('editConfigDraft') && html`<p class="soft">You need the role “configuration” to see and change the configuration.</p>`}
    </main>`;
  const close = () => {
    setOpen('');
    void live.refresh();
  };
  const onPublished = (/** @type {Config} */ config) => {
    setPublished(config);
    return live.refresh();
  };
  return html`<main>
    <div class="row apart head">
      <h1>Configuration</h1>
      <${Buttons}
        draft=${draft}
        isEditing=${isEditing}
        onEdit=${() => setEditing(!isEditing)}
        onOpen=${setOpen}
      />
    </div>
    <${LiveState} live=${live} />
    <${State} draft=${draft} />
    ${published && html`<${Arrival} key=${published.version} api=${api} published=${published} />`}
    ${isEditing && html`<${Text} key=${draft.revision} api=${api} draft=${draft} onSaved=${live.refresh} />`}
    <h2>What the draft changes</h2>
    <${ConfigChanges} changes=${draft.changes} />
    ${draft.begun && draft.violations.length === 0 && may('tryPrices') && html`<${Effect} key=${draft.revision} api=${api} currency=${currency} />`}
    <h2>Sealed keys</h2>
    <${Table}
      label="Keys"
      columns=${secretColumns}
      rows=${draft.secrets}
      keyOf=${(/** @type {Secret} */ { name }) => name}
      empty="None. A key that you enter in a draft is sealed and will not be shown again."
    />
    <${Versions} api=${api} running=${draft.running} onDone=${onPublished} onClose=${live.refresh} />
    <${OpenDialog}
      api=${api}
      draft=${draft}
      currency=${currency}
      open=${open}
      onOpen=${setOpen}
      onSaved=${live.refresh}
      onPublished=${onPublished}
      onClose=${close}
    />
  </main>`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, draft: Draft, currency: string, open: string, onOpen: (dialog: string) => void,
 *   onSaved: () => Promise<void>, onPublished: (published: Config) => Promise<void>, onClose: () => void,
 * }} props `open` is the name of a dialog, the pointer of an entry, or empty. `onSaved` and `onPublished` resolve when
 * the page shows the new draft. A dialog stays open until then, so that the next action behind it applies to the new
 * draft.
 */
function OpenDialog({ api, draft, currency, open, onOpen, onSaved, onPublished, onClose }) {
  const dialog = dialogs(api, draft, { onSaved, onPublished })[open];
  if (dialog !== undefined) return html`<${Confirm} ...${dialog} onClose=${onClose} />`;
  if (open === 'add')
    return html`<${AddModel}
      api=${api}
      own=${draft.channels}
      currency=${currency}
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  if (open === 'price')
    return html`<${PriceForm}
      draft=${draft}
      currency=${currency}
      edit=${async (/** @type {object} */ change, /** @type {number} */ revision) => {
        /** @type {Draft} */
        const edited = await api.put(path, { revision, ...change });
        await onSaved();
        return edited;
      }}
      onEntry=${onOpen}
      onClose=${onClose}
    />`;
  if (open === 'entry' || open.startsWith('/'))
    return html`<${EntryForm}
      api=${api}
      start=${open === 'entry' ? '' : open}
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  if (open === 'test') return html`<${TestKey} api=${api} channels=${draft.channels} onClose=${onClose} />`;
  return null;
}

/**
 * @param {{ draft: Draft, isEditing: boolean, onEdit: () => void, onOpen: (dialog: string) => void }} props
 */
function Buttons({ draft, isEditing, onEdit, onOpen }) {
  return html`<div class="row">
    <button onClick=${onEdit}>${isEditing ? 'Hide the text' : 'Edit the text'}</button>
    <button onClick=${() => onOpen('add')}>Add a model</button>
    <button onClick=${() => onOpen('price')}>Change a price</button>
    <button onClick=${() => onOpen('entry')}>Edit an entry</button>
    <button onClick=${() => onOpen('test')}>Test a key</button>
    ${draft.begun && html`<button onClick=${() => onOpen('discard')}>Discard</button>`}
    <button class="main" disabled=${!draft.begun || !draft.publishable} onClick=${() => onOpen('publish')}>
      Publish
    </button>
  </div>`;
}

/** @param {{ draft: Draft }} props */
function State({ draft: { begun, base, running, edits, violations, publishable } }) {
  const last = edits.at(-1);
  return html`
    <p class="soft">
      Version ${running} is active.
      ${begun && last !== undefined ? html` ${last.by} changed the draft <${Time} at=${last.at} />.` : ' Nobody has changed the draft.'}
      ${' '}The <a href=${linkTo(['start'])}>first steps</a> add an upstream, a model with its price, and an
      account.
    </p>
    ${begun && base !== running && html`<p class="notice warn">The draft is based on version ${base}, but another version has been published since.</p>`}
    ${!publishable && html`<p class="notice">Drafts cannot be published here, because only files change the configuration. Copy the text of the draft into your gateway.yaml, and reload it.</p>`}
    ${
      violations.length > 0 &&
      html`<div class="notice bad" role="alert">
        ${counted(violations.length, 'mistake')}:
        <ul>
          ${violations.map(({ path: where, message }) => html`<li><code>${where}</code> ${message}</li>`)}
        </ul>
      </div>`
    }
  `;
}

/** @param {{ api: import('./types.d.ts').Api, draft: Draft, onSaved: () => Promise<void> }} props */
function Text({ api, draft: { text, revision }, onSaved }) {
  const [written, setWritten] = useState(text);
  const [refusal, setRefusal] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function save() {
    setBusy(true);
    try {
      await api.put(path, { revision, text: written });
      await onSaved();
    } catch (thrown) {
      setRefusal(errorOf(thrown).message);
    }
    setBusy(false);
  }
  return html`<label class="stacked">
      The draft as YAML
      <textarea
        rows="24"
        class="mono"
        spellcheck="false"
        readonly=${isBusy}
        value=${written}
        onInput=${(/** @type {Event & { currentTarget: HTMLTextAreaElement }} */ event) =>
          setWritten(event.currentTarget.value)}
      ></textarea>
    </label>
    ${refusal !== '' && html`<p class="notice bad" role="alert">${refusal}</p>`}
    <div class="row ends">
      <button disabled=${isBusy || written === text} onClick=${() => void save()}>Save the draft</button>
    </div>`;
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {Draft} draft
 * @param {{ onSaved: () => Promise<void>, onPublished: (published: Config) => Promise<void> }} then
 * @returns {Record<string, Omit<Parameters<typeof Confirm>[0], 'onClose'>>}
 */
function dialogs(api, { revision, base, running }, { onSaved, onPublished }) {
  const over = base === running ? {} : { over: running };
  const effect = (/** @type {string} */ words) => () => words;
  return {
    discard: {
      title: 'Discard the draft',
      fields: [],
      effect: effect('The next change begins from the running configuration.'),
      button: 'Discard',
      async run() {
        await api.remove(`${path}?revision=${revision}`);
      },
      onSaved,
    },
    publish: {
      title: 'Publish the draft',
      fields: [{ name: 'reason', label: 'Reason' }],
      effect: effect(
        `All processes load the draft within seconds. Tasks in flight keep their price and channel.${base === running ? '' : ` It replaces version ${running}.`}`,
      ),
      button: 'Publish',
      async run({ reason }) {
        /** @type {Config} */
        const published = await api.post(`${path}/publish`, { revision, reason, ...over });
        await onPublished(published);
      },
    },
  };
}

/** @type {readonly import('../shared/table.js').Column<Secret>[]} */
const secretColumns = [
  { title: 'Name', isProse: true, cell: ({ name }) => html`<code>${name}</code>` },
  { title: 'Ends with', cell: ({ ending }) => html`<span class="mono">…${ending}</span>` },
  { title: 'Written', cell: ({ created_at: at }) => html`<${Time} at=${at} />` },
  { title: 'By', cell: ({ created_by: by }) => by },
  { title: 'Sent to', isProse: true, cell: ({ origin }) => origin ?? '–' },
  { title: 'In the draft', cell: ({ used }) => (used ? 'yes' : 'no') },
];
