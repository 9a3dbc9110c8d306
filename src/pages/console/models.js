import { money, words } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Reckoning } from '../shared/reckoning.js';
import { Table } from '../shared/table.js';
import { AskRequest } from './ask-request.js';
import { PriceLines } from './price-lines.js';
import { linkTo } from './router.js';

/** @typedef {import('./types.d.ts').Model} Model */
/** @typedef {Pick<Model['pricing'], 'minimum' | 'lines'>} Price */
/**
 * @typedef {{
 *   currency: string, hold: import('./types.d.ts').Reckoning, usual: import('./types.d.ts').Reckoning,
 *   channels: readonly { channel: string, dearest: string, rules_of: string }[],
 *   dropped: readonly { channel: string, reason: string, detail: string }[],
 *   warnings: readonly string[],
 * }} Explained
 */

const path = '/admin/v1/models';

/** @param {import('./types.d.ts').PageProps} props */
export function Models({ api, may, currency }) {
  /** @type {import('../shared/live.js').Live<{ data: readonly Model[] }>} */
  const live = useLive(path, (signal) => api.get(path, signal), 15_000);
  return html`<main>
    <div class="row apart head"><h1>Models and prices</h1></div>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Models"
        columns=${columnsOf(currency, live.data.data)}
        rows=${live.data.data}
        keyOf=${(/** @type {Model} */ { id }) => id}
        empty="The configuration has no models."
      />`
    }
    ${
      may('explainPrice') &&
      html`<${AskRequest}
        title="What would a request cost?"
        button="Explain"
        models=${live.data?.data.map(({ id }) => id) ?? []}
        ask=${(/** @type {unknown} */ request) => api.post('/admin/v1/prices/explain', { request })}
        show=${(/** @type {Explained} */ explained) => html`<${Priced} explained=${explained} />`}
      />`
    }
  </main>`;
}

/**
 * @param {string} currency
 * @param {readonly Model[]} models
 * @returns {readonly import('../shared/table.js').Column<Model>[]}
 */
function columnsOf(currency, models) {
  const own = {
    title: 'Channel prices',
    cell: (/** @type {Model} */ { pricing }) => ownPrices(pricing.channels),
  };
  return [
    { title: 'Model', cell: ({ id }) => html`<a href=${linkTo(['tasks'], { model: id })}>${id}</a>` },
    { title: 'Kind', cell: ({ kind }) => kind },
    {
      title: `Price in ${currency}`,
      cell: ({ pricing }) => html`<${PriceLines} price=${pricing} />`,
    },
    ...(models.some(({ pricing }) => pricing.channels.length > 0) ? [own] : []),
    { title: 'Channels', isProse: true, cell: ({ channels }) => channels.map(offer) },
  ];
}

/** @param {readonly (Price & { channel: string })[]} prices */
function ownPrices(prices) {
  if (prices.length === 0) return html`<span class="soft">–</span>`;
  return prices.map(
    (price) =>
      html`<div>${price.channel}</div>
        <${PriceLines} price=${price} />`,
  );
}

/** @param {Model['channels'][number]} one */
function offer({ channel, upstream, enabled, retirement }) {
  return html`<div>
    ${channel}${' '}<span class="soft small">${upstream}</span>${' '}
    ${enabled ? null : html`<${Badge} tone="idle" word="paused" />`}
    ${retirement === null ? null : html`<${Badge} tone="warn" word=${retiredWord(retirement.on)} />`}
  </div>`;
}

/** @param {string} on */
function retiredWord(on) {
  return `${Date.parse(on) > Date.now() ? 'ends' : 'shut down'} on ${on}`;
}

/** @param {{ explained: Explained }} props */
function Priced({ explained: { currency, hold, usual, channels, dropped, warnings } }) {
  const columns = [
    { title: 'Channel', cell: (/** @type {{ channel: string }} */ { channel }) => channel },
    {
      title: `At most ${currency}`,
      isNumber: true,
      cell: (/** @type {{ dearest?: string }} */ { dearest }) => money(dearest),
    },
    {
      title: 'Why',
      isProse: true,
      cell: (/** @type {{ detail: string }} */ { detail }) => detail,
    },
  ];
  const rows = [
    ...channels.map(({ channel, dearest, rules_of: whose }) => ({
      channel,
      dearest,
      detail: `by the price of the ${whose}`,
    })),
    ...dropped.map(({ channel, reason, detail }) => ({
      channel,
      detail: `${words(reason)}: ${detail}`,
    })),
  ];
  return html`${warnings.length > 0 && html`<p class="notice warn">Ignored: ${warnings.join(', ')}</p>`}
    <div class="columns even">
      <${Reckoning} title="Usual" how=${usual} currency=${currency} open="the usual" />
      <${Reckoning} title="Held" how=${hold} currency=${currency} />
    </div>
    <${Table}
      label="Channels that may render it"
      columns=${columns}
      rows=${rows}
      keyOf=${(/** @type {{ channel: string, detail: string }} */ { channel, detail }) => `${channel} ${detail}`}
      empty="No channel renders it."
    />`;
}
