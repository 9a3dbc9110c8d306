import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, Facts, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { Reload } from './reload.js';

/** @typedef {import('./types.d.ts').Config} Config */
/** @typedef {import('./types.d.ts').Node} Node */

const path = '/admin/v1/config';
/** @type {Record<Node['state'], import('../shared/parts.js').Tone>} */
const tones = { running: 'good', leaving: 'busy', gone: 'bad' };

/** @param {import('./types.d.ts').PageProps} props */
export function Nodes({ api, may }) {
  /** @type {import('../shared/live.js').Live<Config>} */
  const live = useLive(path, (signal) => api.get(path, signal), 5_000);
  const [isReloading, setReloading] = useState(false);
  const config = live.data;
  if (config === undefined)
    return html`<main>
      <h1>Nodes</h1>
      <${LiveState} live=${live} />
    </main>`;
  const behind = config.nodes.filter(
    ({ state, config: version }) => state === 'running' && version < config.version,
  );
  return html`<main>
    <div class="row apart head">
      <h1>Nodes</h1>
      ${may('reloadConfig') && html`<button onClick=${() => setReloading(true)}>Reload the configuration</button>`}
    </div>
    <${LiveState} live=${live} />
    ${behind.length > 0 && html`<p class="notice warn">${counted(behind.length, 'process')} of ${config.nodes.length} run an older version.</p>`}
    <${Facts}
      rows=${[
        ['Configuration', html`version ${config.version} <span class="mono">${config.hash}</span>`],
        ['Published', html`<${Time} at=${config.published_at} exact /> by ${config.published_by}`],
        ['From the file of', config.published_on],
      ]}
    />
    <h2>Processes</h2>
    <${Table}
      label="Processes"
      columns=${columns}
      rows=${config.nodes}
      keyOf=${(/** @type {Node} */ { id }) => id}
      empty="No process has reported."
    />
    ${
      isReloading &&
      html`<${Reload} api=${api} onSaved=${live.refresh} onClose=${() => setReloading(false)} />`
    }
  </main>`;
}

/** @type {readonly import('../shared/table.js').Column<Node>[]} */
const columns = [
  { title: 'State', cell: ({ state }) => html`<${Badge} tone=${tones[state]} word=${state} />` },
  { title: 'Process', isProse: true, cell: ({ id }) => html`<span class="mono">${id}</span>` },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Configuration', isNumber: true, cell: ({ config }) => config },
  { title: 'In flight', isNumber: true, cell: ({ in_flight: count }) => count },
  { title: 'Event loop lag', isNumber: true, cell: ({ event_loop_lag_ms: lag }) => `${lag} ms` },
  { title: 'Began', cell: ({ since }) => html`<${Time} at=${since} />` },
  { title: 'Last seen', cell: ({ last_seen_at: at }) => html`<${Time} at=${at} />` },
  { title: 'Problems', isProse: true, cell: (node) => problemsOf(node).join('; ') },
];

/** @param {Node} node */
function problemsOf({ unreached, refused }) {
  return [
    ...unreached.map(({ circuit, text }) => `cannot reach ${circuit}: ${text}`),
    ...(refused === null ? [] : [`refused configuration ${refused.config}: ${refused.reasons.join('; ')}`]),
  ];
}
