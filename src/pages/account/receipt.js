import { money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Facts, LiveState } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Reckoning } from '../shared/reckoning.js';

/** @typedef {Parameters<typeof Reckoning>[0]['how']} How */
/**
 * @typedef {{
 *   currency: string, hold: string | null, charge: string | null, released: string | null, refunded: string,
 *   estimated: boolean, hold_reckoning: How, charge_reckoning: How,
 * }} Receipt
 */

/** @param {{ api: import('../shared/api.js').Api, path: string }} props `path`: the URL path of a finished task. */
export function TaskReceipt({ api, path }) {
  /** @type {import('../shared/live.js').Live<{ payload: Receipt }>} */
  const live = useLive(`${path}/receipt`, (signal) => api.get(`${path}/receipt`, signal), 0);
  const receipt = live.data?.payload;
  return html`<section aria-label="Receipt">
    <h2>Receipt</h2>
    <${LiveState} live=${live} />
    ${receipt && html`<${Amounts} receipt=${receipt} />`}
  </section>`;
}

/** @param {{ receipt: Receipt }} props */
function Amounts({ receipt }) {
  const { currency, hold, charge, released, refunded, estimated } = receipt;
  const amount = (/** @type {string | null} */ value) =>
    value === null ? '' : `${money(value)} ${currency}`;
  return html`${receipt.hold_reckoning && html`<${Reckoning} title="Held" how=${receipt.hold_reckoning} currency=${currency} />`}
    ${receipt.charge_reckoning && html`<${Reckoning} title="Charged" how=${receipt.charge_reckoning} currency=${currency} />`}
    ${estimated && html`<p class="notice">The charge is estimated, because the output was neither reported nor measured.</p>`}
    <${Facts}
      rows=${[
        ['Held', receipt.hold_reckoning ? '' : amount(hold)],
        ['Charged', receipt.charge_reckoning ? '' : amount(charge)],
        ['Released', amount(released)],
        ['Refunded', /[1-9]/.test(refunded) ? amount(refunded) : ''],
      ]}
    />`;
}
