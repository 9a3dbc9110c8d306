import { useLive, useVersions } from '../shared/live.js';
import { LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { actionsColumn, Table } from '../shared/table.js';
import { ConfigChanges } from './config-changes.js';
import { Confirm } from './confirm.js';

/** @typedef {import('./types.d.ts').ConfigVersion} Version */

const path = '/admin/v1/config/versions';
const rollbackPath = '/admin/v1/config/rollback';

/** @typedef {import('./types.d.ts').Config} Config */

/**
 * @param {{
 *   api: import('./types.d.ts').Api, running: number, onDone: (published: Config) => Promise<void>, onClose: () => void,
 * }} props `onDone` receives the response to the rollback.
 */
export function Versions({ api, running, onDone, onClose }) {
  /** @type {import('../shared/live.js').Live<{ data: readonly Version[] }>} */
  const live = useVersions(path, String(running), (signal) => api.get(path, signal));
  const [chosen, choose] = useState(/** @type {number | undefined} */ (undefined));
  return html`<h2>Versions</h2>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Versions"
        columns=${[...columns, actOf(running, choose)]}
        rows=${live.data.data}
        keyOf=${(/** @type {Version} */ { version }) => String(version)}
        empty="No version has been published."
      />`
    }
    ${
      chosen !== undefined &&
      html`<${RollBack}
        api=${api}
        version=${chosen}
        onDone=${onDone}
        onClose=${() => {
          choose(undefined);
          onClose();
        }}
      />`
    }`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, version: number, onDone: (published: Config) => Promise<void>, onClose: () => void,
 * }} props
 */
function RollBack({ api, version, onDone, onClose }) {
  /** @type {import('../shared/live.js').Live<{ changes: readonly import('./types.d.ts').ConfigChange[] }>} */
  const live = useLive(
    `${rollbackPath}?${version}`,
    () => api.post(rollbackPath, { version, dry_run: true }),
    0,
  );
  return html`<${Confirm}
    title=${`Roll back to version ${version}`}
    fields=${[{ name: 'reason', label: 'Reason', isOptional: true }]}
    effect=${() =>
      html`All processes load this version within seconds. It gets a new number.
        <${LiveState} live=${live} />
        ${live.data && html`<${ConfigChanges} changes=${live.data.changes} />`}`}
    button="Roll back"
    run=${async (/** @type {Record<string, string>} */ { reason }) => {
      /** @type {Config} */
      const published = await api.post(rollbackPath, { version, reason });
      await onDone(published);
    }}
    onClose=${onClose}
  />`;
}

/**
 * @param {number} running
 * @param {(version: number) => void} choose
 * @returns {import('../shared/table.js').Column<Version>}
 */
function actOf(running, choose) {
  return actionsColumn(({ version }) =>
    version === running
      ? 'active'
      : html`<button aria-label=${`Roll back to version ${version}`} onClick=${() => choose(version)}>
          Roll back
        </button>`,
  );
}

/** @type {readonly import('../shared/table.js').Column<Version>[]} */
const columns = [
  { title: 'Version', isNumber: true, cell: ({ version }) => version },
  { title: 'Published', cell: ({ published_at: at }) => html`<${Time} at=${at} />` },
  { title: 'By', cell: ({ published_by: by }) => by },
  { title: 'Reason', isProse: true, cell: ({ reason }) => reason },
];
