import { span } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { HealthBadge, rankOf } from './health.js';
import { knownAmount } from './known-cost.js';
import { rateOf, rateText } from './rates.js';
import { RouteExplanation } from './route-explanation.js';
import { goTo, linkTo } from './router.js';
import { useRowKeys } from './row-keys.js';

/** @typedef {import('./types.d.ts').Channel} Channel */

export const channelsPath = '/admin/v1/channels';

/** @param {import('./types.d.ts').PageProps} props */
export function Channels({ api, may, currency }) {
  const live = useChannels(api);
  useRowKeys();
  return html`<main>
    <div class="row apart head"><h1>Channels</h1></div>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Channels"
        columns=${columnsOf(currency, may('amounts') && live.data.data.some(({ balances }) => balances.length > 0))}
        rows=${[...live.data.data].sort((a, b) => rankOf(a) - rankOf(b))}
        keyOf=${(/** @type {Channel} */ { id }) => id}
        onOpen=${(/** @type {Channel} */ { id }) => goTo(linkTo(['channels', id]))}
        empty="No channels are configured."
      />`
    }
    <${RouteExplanation} api=${api} models=${[...new Set(live.data?.data.flatMap(({ models }) => models))]} />
  </main>`;
}

/**
 * @param {import('./types.d.ts').Api} api
 * @returns {import('../shared/live.js').Live<{ data: readonly Channel[] }>}
 */
export function useChannels(api) {
  return useLive(channelsPath, (signal) => api.get(channelsPath, signal), 5_000);
}

/**
 * @param {string} currency
 * @param {boolean} hasBalances
 * @returns {readonly import('../shared/table.js').Column<Channel>[]}
 */
function columnsOf(currency, hasBalances) {
  return [
    {
      title: 'Channel',
      cell: ({ id }) => html`<a href=${linkTo(['channels', id])}>${id}</a>`,
      by: ({ id }) => id,
    },
    { title: 'Provider', cell: ({ provider }) => provider, by: ({ provider }) => provider },
    { title: 'Health', cell: ({ health }) => html`<${HealthBadge} state=${health.state} />`, by: rankOf },
    {
      title: 'Waiting',
      isNumber: true,
      cell: ({ health }) => (health.waiting?.tasks ?? 0).toLocaleString('en'),
      by: ({ health }) => health.waiting?.tasks ?? 0,
    },
    {
      title: 'Slots',
      isNumber: true,
      cell: slotsOf,
      by: ({ slots }) => (slots === null ? -1 : slots.in_use / slots.limit),
    },
    {
      title: 'Success rate, 3 h',
      isNumber: true,
      cell: (channel) => rateText(recentRate(channel)),
      by: recentRate,
    },
    {
      title: 'Mean time',
      isNumber: true,
      cell: ({ recent }) => (typeof recent?.mean_seconds === 'number' ? span(recent.mean_seconds) : '–'),
      by: ({ recent }) => recent?.mean_seconds ?? -1,
    },
    {
      title: `Charged today ${currency}`,
      money: ({ today }) => today?.charged ?? null,
      by: ({ today }) => Number(today?.charged ?? 0),
    },
    {
      title: `Cost today ${currency}`,
      money: ({ today }) => today && knownAmount(today, 'cost'),
      by: ({ today }) => Number(today?.cost ?? 0),
    },
    {
      title: `Margin today ${currency}`,
      money: ({ today }) => today && knownAmount(today, 'margin'),
      by: ({ today }) => Number(today?.margin ?? 0),
    },
    ...(hasBalances ? [{ title: 'Balance at the vendor', isProse: true, cell: balancesOf }] : []),
  ];
}

/** @param {Channel} channel */
export function balancesOf({ balances }) {
  return balances.map(
    ({ credential, upstream_balance: left, unit, at, problem }) =>
      html`<div key=${credential}>
        ${left === null ? (problem ?? 'Asking the vendor…') : `${Number(left).toLocaleString('en')} ${unit}`}${' '}<span
          class="soft small"
        >
          ${balances.length > 1 && `${credential}, `}${at !== null && html`<${Time} at=${at} />`}</span
        >
      </div>`,
  );
}

/** @param {Channel} channel */
const recentRate = ({ recent }) => (recent === null ? -1 : rateOf(recent));

/** @param {Channel} channel */
export function slotsOf({ slots }) {
  if (slots === null) return 'no limit';
  const full = slots.in_use >= slots.limit ? html` <${Badge} tone="warn" word="all in use" />` : null;
  return html`${slots.in_use.toLocaleString('en')} of ${slots.limit.toLocaleString('en')} in use${full}`;
}
