import { useVersions } from '../shared/live.js';
import { html } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';

/** @typedef {{ value: string, title?: string }} Offer */

const modelsPath = '/admin/v1/models';
const offeredMax = 100;

/**
 * @param {import('./types.d.ts').Api} api
 * @param {boolean} [isWanted]
 */
export function useModelNames(api, isWanted = true) {
  /** @type {{ data?: { data: readonly import('./types.d.ts').Model[] } | undefined }} */
  const live = useVersions(modelsPath, isWanted ? '' : undefined, (signal) => api.get(modelsPath, signal));
  const found = live.data?.data ?? [];
  const channels = found.flatMap((model) => model.channels.map(({ channel }) => channel));
  return { models: found.map(({ id }) => id), channels: [...new Set(channels)] };
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {boolean} isWanted
 * @returns {readonly Offer[]}
 */
export function useAccountOffers(api, isWanted) {
  const path = withQuery('/admin/v1/accounts', { limit: offeredMax });
  /** @type {{ data?: import('./types.d.ts').Page<import('./types.d.ts').Account> | undefined }} */
  const live = useVersions(path, isWanted ? '' : undefined, (signal) => api.get(path, signal));
  return live.data?.data.map(({ id, name }) => ({ value: id, title: name })) ?? [];
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {{ isWanted: boolean, account: string }} of If `account` is empty, keys of all accounts are suggested.
 * @returns {readonly Offer[]}
 */
export function useKeyOffers(api, { isWanted, account }) {
  const path = withQuery('/admin/v1/keys', { limit: offeredMax, account });
  /** @type {{ data?: import('./types.d.ts').Page<import('./types.d.ts').Key> | undefined }} */
  const live = useVersions(path, isWanted ? '' : undefined, (signal) => api.get(path, signal));
  return (
    live.data?.data.map(({ id, name, account: owner }) => ({ value: id, title: `${name}, ${owner}` })) ?? []
  );
}

/** @param {{ id: string, offers: readonly Offer[] }} props `id`: the input's `list` attribute. */
export function Offers({ id, offers }) {
  return html`<datalist id=${id}>
    ${offers.map(({ value, title = '' }) => html`<option key=${value} value=${value}>${title}</option>`)}
  </datalist>`;
}
