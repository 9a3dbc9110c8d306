import { words } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { HealthList } from './health.js';
import { AskRequest } from './ask-request.js';

/** @typedef {{ channel: string, credential?: string, verdict: string, detail?: string }} Line */
/**
 * @typedef {{
 *   candidates: readonly { channel: string, credential: string, waits: boolean, detail: string }[],
 *   dropped: readonly { channel: string, reason: string, detail: string }[],
 *   health: readonly import('./types.d.ts').ChannelHealth[],
 *   refusal?: { code: string, message: string },
 * }} Explained
 */

const columns = [
  { title: 'Channel', cell: (/** @type {Line} */ { channel }) => channel },
  { title: 'Credential', cell: (/** @type {Line} */ { credential }) => credential ?? '' },
  { title: 'Verdict', cell: (/** @type {Line} */ { verdict }) => verdict },
  { title: 'Why', isProse: true, cell: (/** @type {Line} */ { detail }) => detail ?? '' },
];

/** @param {{ api: import('./types.d.ts').Api, models: readonly string[] }} props */
export function RouteExplanation({ api, models }) {
  return html`<${AskRequest}
    title="Where would a request go?"
    button="Explain"
    models=${models}
    ask=${(/** @type {unknown} */ request) => api.post('/admin/v1/routes/explain', { request })}
    show=${(/** @type {Explained} */ explained) => html`
      ${explained.refusal && html`<p class="notice warn">The request would be rejected: ${explained.refusal.message}</p>`}
      <${HealthList} channels=${explained.health} />
      <${Table}
        label="Route"
        columns=${columns}
        rows=${linesOf(explained)}
        keyOf=${(/** @type {Line} */ { channel, credential, verdict }) => `${channel}/${credential ?? ''} ${verdict}`}
        empty="No channel serves this model."
      />
    `}
  />`;
}

/**
 * @param {Explained} explained
 * @returns {readonly Line[]}
 */
function linesOf({ candidates, dropped }) {
  return [
    ...candidates.map(({ waits, ...candidate }, index) => ({
      ...candidate,
      verdict: `${waits ? 'waited for' : 'tried'} as number ${index + 1}`,
    })),
    ...dropped.map(({ channel, reason, detail }) => ({ channel, verdict: words(reason), detail })),
  ];
}
