import { Dialog } from '../shared/dialog.js';
import { useLive } from '../shared/live.js';
import { LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { ConfigChanges } from './config-changes.js';
import { Confirm } from './confirm.js';

/** @typedef {import('./types.d.ts').ConfigVersion} Version */

const path = '/admin/v1/config/versions';
const rollbackPath = '/admin/v1/config/rollback';

/** @param {{ api: import('./types.d.ts').Api, running: number, onClose: () => void }} props */
export function Versions({ api, running, onClose }) {
  /** @type {import('../shared/live.js').Live<{ data: readonly Version[] }>} */
  const live = useLive(path, (signal) => api.get(path, signal), 0);
  const [chosen, choose] = useState(/** @type {number | undefined} */ (undefined));
  if (chosen !== undefined) return html`<${RollBack} api=${api} version=${chosen} onClose=${onClose} />`;
  return html`<${Dialog} title="Versions" onClose=${onClose}>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Versions"
        columns=${[...columns, actOf(running, choose)]}
        rows=${live.data.data}
        keyOf=${(/** @type {Version} */ { version }) => String(version)}
        empty="No version was published."
      />`
    }
  <//>`;
}

/** @param {{ api: import('./types.d.ts').Api, version: number, onClose: () => void }} props */
function RollBack({ api, version, onClose }) {
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
    run=${(/** @type {Record<string, string>} */ { reason }) => api.post(rollbackPath, { version, reason })}
    onClose=${onClose}
  />`;
}

/**
 * @param {number} running
 * @param {(version: number) => void} choose
 * @returns {import('../shared/table.js').Column<Version>}
 */
function actOf(running, choose) {
  return {
    title: 'Act',
    cell: ({ version }) =>
      version === running
        ? 'in force'
        : html`<button aria-label=${`Roll back to version ${version}`} onClick=${() => choose(version)}>
            Roll back
          </button>`,
  };
}

/** @type {readonly import('../shared/table.js').Column<Version>[]} */
const columns = [
  { title: 'Version', isNumber: true, cell: ({ version }) => version },
  { title: 'Published', cell: ({ published_at: at }) => html`<${Time} at=${at} />` },
  { title: 'By', cell: ({ published_by: by }) => by },
  { title: 'Reason', isProse: true, cell: ({ reason }) => reason },
];
