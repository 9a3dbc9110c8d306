import { words } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { root } from '../shared/root.js';
import { Confirm } from './confirm.js';
import { createBody, keyFields } from './key-body.js';
import { useModelNames } from './offers.js';

/** @typedef {import('./types.d.ts').Key} Key */
/**
 * @typedef {{ title: string, secret: string, note: string }} Issued `secret` is a new key, or the link at which its
 * owner can get it. It is displayed only once.
 */

const path = '/admin/v1/keys';

/** @param {Key} key */
export function mayUse(key) {
  const { models, channels, requests_per_minute: rate, concurrent_tasks: concurrent } = key;
  const { strict, end_user_required: namesUser } = key;
  const { scopes, addresses, routes, duration_max: seconds, resolution_max: resolution } = key;
  return [
    scopes.map(words).join(', '),
    models === null ? 'all models' : models.join(', '),
    channels !== null && `by ${channels.join(', ')}`,
    rate !== null && `${rate.toLocaleString('en')} requests a minute`,
    concurrent !== null && `${concurrent.toLocaleString('en')} unfinished tasks at most`,
    seconds !== null && `videos of ${seconds.toLocaleString('en')} s at most`,
    resolution !== null && `${resolution} at most`,
    addresses !== null && `from ${addresses.join(', ')}`,
    strict && 'fields that have no effect are rejected',
    namesUser && 'end user required',
    routes !== null && `by ${routes.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
}

/**
 * The new key is displayed either here or, through a link, only to its owner.
 *
 * @param {{
 *   api: import('./types.d.ts').Api, account: string, currency: string, may: (word: string) => boolean,
 *   onIssued: (issued: Issued) => void, onSaved?: () => Promise<void>, onClose: () => void,
 * }} props
 */
export function NewKey({ api, account, currency, may, onIssued, onSaved, onClose }) {
  const names = useModelNames(api);
  return html`<${Confirm}
    title=${`New key for ${account}`}
    button="Create"
    fields=${keyFields(names, currency, may)}
    effect=${(/** @type {Record<string, string>} */ { link }) =>
      link === ''
        ? `The key spends the balance of ${account}. It is shown once, here.`
        : `Creates a link that can be used once. The first person to use it on /account gets the key, which spends the balance of ${account}. Nobody else sees the key.`}
    run=${async (/** @type {Record<string, string>} */ written) => {
      /** @type {Key & { key?: string, link?: string }} */
      const created = await api.post(path, { account, ...createBody(written, Date.now() / 1000) });
      const { key, link = '' } = created;
      onIssued(
        key === undefined
          ? {
              title: 'The link for the owner',
              secret: new URL(link, root).href,
              note: `Send it to the owner of ${account}. It gives them a key for ${mayUse(created)}.`,
            }
          : { title: 'The new key', secret: key, note: `It is valid immediately, for ${mayUse(created)}.` },
      );
    }}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}
