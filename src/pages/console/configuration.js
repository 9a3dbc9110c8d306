/** The question: what should the gateway sell, through whom, and at which prices? */
import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { ConfigChanges } from './config-changes.js';
import { Confirm } from './confirm.js';
import { Effect } from './draft-effect.js';
import { Versions } from './versions.js';

/** @typedef {import('./types.d.ts').ConfigDraft} Draft */
/** @typedef {Draft['secrets'][number]} Secret */

const path = '/admin/v1/config/draft';

/** @param {import('./types.d.ts').PageProps} props */
export function Configuration({ api, may }) {
  /** @type {import('../shared/live.js').Live<Draft>} */
  const live = useLive(path, (signal) => api.get(path, signal), 0);
  const [open, setOpen] = useState('');
  const [isEditing, setEditing] = useState(false);
  const draft = live.data;
  if (!may('editConfigDraft'))
    return html`<main>
      <h1>Configuration</h1>
      <p class="soft">You need the role “configuration” to see and change it.</p>
    </main>`;
  if (draft === undefined)
    return html`<main>
      <h1>Configuration</h1>
      <${LiveState} live=${live} />
    </main>`;
  const close = () => {
    setOpen('');
    live.refresh();
  };
  const dialog = dialogs(api, draft)[open];
  return html`<main>
    <div class="row apart head">
      <h1>Configuration</h1>
      <div class="row">
        <button onClick=${() => setOpen('versions')}>Earlier versions</button>
        <button onClick=${() => setEditing(!isEditing)}>
          ${isEditing ? 'Hide the text' : 'Edit the text'}
        </button>
        <button onClick=${() => setOpen('set')}>Set a value</button>
        <button onClick=${() => setOpen('test')}>Test a key</button>
        ${draft.begun && html`<button onClick=${() => setOpen('discard')}>Discard</button>`}
        <button
          class="main"
          disabled=${!draft.begun || !draft.publishable}
          onClick=${() => setOpen('publish')}
        >
          Publish
        </button>
      </div>
    </div>
    <${LiveState} live=${live} />
    <${State} draft=${draft} />
    ${isEditing && html`<${Text} key=${draft.revision} api=${api} draft=${draft} onSaved=${live.refresh} />`}
    <h2>What the draft changes</h2>
    <${ConfigChanges} changes=${draft.changes} />
    ${draft.begun && draft.violations.length === 0 && html`<${Effect} key=${draft.revision} api=${api} />`}
    <h2>Sealed keys</h2>
    <${Table}
      label="Keys"
      columns=${secretColumns}
      rows=${draft.secrets}
      keyOf=${(/** @type {Secret} */ { name }) => name}
      empty="None. A key that you enter in a draft is sealed and will not be shown again."
    />
    ${dialog && html`<${Confirm} ...${dialog} onClose=${close} />`}
    ${open === 'versions' && html`<${Versions} api=${api} running=${draft.running} onClose=${close} />`}
  </main>`;
}

/** @param {{ draft: Draft }} props */
function State({ draft: { begun, base, running, edits, violations, publishable } }) {
  const last = edits.at(-1);
  return html`
    <p class="soft">
      Version ${running} is in force.
      ${begun && last !== undefined ? html` ${last.by} changed the draft <${Time} at=${last.at} />.` : ' Nobody has changed the draft.'}
    </p>
    ${begun && base !== running && html`<p class="notice warn">The draft began from version ${base}, but another version has been published since.</p>`}
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

/** @param {{ api: import('./types.d.ts').Api, draft: Draft, onSaved: () => void }} props */
function Text({ api, draft: { text, revision }, onSaved }) {
  const [written, setWritten] = useState(text);
  const [refusal, setRefusal] = useState('');
  const save = () =>
    api
      .put(path, { revision, text: written })
      .then(onSaved, (/** @type {Error} */ { message }) => setRefusal(message));
  return html`<label class="stacked">
      The draft as YAML
      <textarea
        rows="24"
        class="mono"
        spellcheck="false"
        value=${written}
        onInput=${(/** @type {Event & { currentTarget: HTMLTextAreaElement }} */ event) =>
          setWritten(event.currentTarget.value)}
      ></textarea>
    </label>
    ${refusal !== '' && html`<p class="notice bad" role="alert">${refusal}</p>`}
    <div class="row ends">
      <button disabled=${written === text} onClick=${() => void save()}>Save the draft</button>
    </div>`;
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {Draft} draft
 * @returns {Record<string, Omit<Parameters<typeof Confirm>[0], 'onClose'>>}
 */
function dialogs(api, { revision, base, running }) {
  const over = base === running ? {} : { over: running };
  const effect = (/** @type {string} */ words) => () => words;
  return {
    set: {
      title: 'Set a value',
      fields: [
        { name: 'pointer', label: 'Where, such as /channels/main/credentials/first/api_key' },
        {
          name: 'value',
          label: 'Value: JSON or plain text. Leave it empty to remove the value',
          isOptional: true,
        },
      ],
      effect: effect('This changes only the draft. Name list entries by their ids; a new id adds an entry.'),
      button: 'Set',
      run: ({ pointer = '', value = '' }) => api.put(path, { revision, set: { [pointer]: valueOf(value) } }),
    },
    test: {
      title: 'Test a key of the draft',
      fields: [
        { name: 'channel', label: 'Channel' },
        { name: 'credential', label: 'Credential' },
      ],
      effect: effect('The gateway asks the upstream for a job that does not exist. This is free of charge.'),
      button: 'Test',
      async run({ channel, credential }) {
        const { verdict, words } = await api.post(`${path}/credentials/try`, { channel, credential });
        // The result is thrown, because the dialog then shows it and stays open.
        throw new Error(`${verdict}: ${words}`);
      },
    },
    discard: {
      title: 'Discard the draft',
      fields: [],
      effect: effect('The next change begins from the running configuration.'),
      button: 'Discard',
      run: () => api.remove(`${path}?revision=${revision}`),
    },
    publish: {
      title: 'Publish the draft',
      fields: [{ name: 'reason', label: 'Reason' }],
      effect: effect(
        `All processes load it within seconds. Tasks in flight keep their price and channel.${base === running ? '' : ` It replaces version ${running}.`}`,
      ),
      button: 'Publish',
      run: ({ reason }) => api.post(`${path}/publish`, { revision, reason, ...over }),
    },
  };
}

/** @param {string} text */
function valueOf(text) {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
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
