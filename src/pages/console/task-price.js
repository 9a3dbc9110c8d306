import { money } from '../shared/format.js';
import { useVersions } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Reckoning } from '../shared/reckoning.js';

/** @typedef {{ amount: string, how: import('./types.d.ts').Reckoning | null } | null} Part */
/** @typedef {{ hold: Part, charge: Part, refunded: string, note: string }} Explained */

/**
 * The explanation is loaded only when the operator opens it.
 *
 * @param {{ api: import('./types.d.ts').Api, path: string, version: string, currency: string }} props A new `version`
 * triggers a reload.
 */
export function TaskPrice({ version, ...props }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details
    onToggle=${(/** @type {Event & { currentTarget: HTMLDetailsElement }} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>How the amounts were calculated</summary>
    ${isOpen && html`<${Opened} ...${props} version=${version} />`}
  </details>`;
}

/** @param {{ api: import('./types.d.ts').Api, path: string, version: string, currency: string }} props */
function Opened({ api, path, version, currency }) {
  /** @type {import('../shared/live.js').Live<Explained>} */
  const live = useVersions(`${path}/price`, version, (signal) => api.get(`${path}/price`, signal));
  if (live.data === undefined) return html`<${LiveState} live=${live} />`;
  const { hold, charge, refunded, note } = live.data;
  return html`<p>${note}</p>
    ${hold && html`<${Reckoning} title="Held" ...${hold} currency=${currency} />`}
    ${charge && html`<${Reckoning} title="Charged" ...${charge} currency=${currency} />`}
    ${/[1-9]/.test(refunded) && html`<p>${money(refunded)} ${currency} of it was refunded.</p>`}`;
}
