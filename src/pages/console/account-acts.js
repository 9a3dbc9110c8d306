import { money } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { AccountAlert, DeleteAccount, ExportAccount, ReplaceSecret } from './account-data.js';
import { CapsDialog } from './caps.js';
import { Confirm } from './confirm.js';
import { PriceFactors } from './price-factors.js';

/** @typedef {import('./types.d.ts').Account} Account */
/** @typedef {'credit' | 'overdraft' | 'close' | 'reopen'} Confirmed These actions need only a few fields. */
/** @typedef {Confirmed | 'prices' | 'caps' | 'alert' | 'secret' | 'save' | 'delete'} ActName */

const reason = { name: 'reason', label: 'Reason (kept with your name)' };
export const isAmount = (/** @type {string} */ text) => /^-?\d+(\.\d{1,6})?$/.test(text.trim());

/** @type {Record<ActName, string>} */
const titles = {
  credit: 'Credit',
  overdraft: 'Overdraft',
  prices: 'Prices',
  caps: 'End users’ caps',
  alert: 'Alert',
  secret: 'Webhook secret',
  save: 'Export',
  delete: 'Delete',
  close: 'Close the account',
  reopen: 'Reopen',
};

/** @type {Record<ActName, string>} */
const operations = {
  credit: 'creditAccount',
  overdraft: 'setOverdraft',
  prices: 'setPriceFactors',
  caps: 'setEndUserCaps',
  alert: 'setAccountAlert',
  secret: 'rotateWebhookSecret',
  save: 'exportAccount',
  delete: 'deleteAccount',
  close: 'closeAccount',
  reopen: 'reopenAccount',
};

/** @param {{ account: Account, may: (word: string) => boolean, onAct: (name: ActName) => void }} props */
export function AccountActs({ account, may, onAct }) {
  /** @type {readonly ActName[]} */
  const ending =
    account.deletion !== null ? [] : account.closed_at === null ? ['close'] : ['reopen', 'delete'];
  /** @type {readonly ActName[]} */
  const names = ['credit', 'overdraft', 'prices', 'caps', 'alert', 'secret', 'save', ...ending];
  return html`<div class="row">
    ${names.filter((name) => may(operations[name])).map((name) => html`<button class=${name === 'close' || name === 'delete' ? 'destructive' : undefined} onClick=${() => onAct(name)}>${titles[name]}</button>`)}
  </div>`;
}

const dialogs = { alert: AccountAlert, secret: ReplaceSecret, save: ExportAccount, delete: DeleteAccount };

/**
 * @param {import('./account-data.js').Props & { name: ActName }} props
 */
export function AccountAct({ name, ...props }) {
  const { api, path: own, account, currency, onSaved, onClose } = props;
  const post = (/** @type {string} */ path, /** @type {unknown} */ body) => api.post(`${own}/${path}`, body);
  if (name === 'caps') return html`<${EndUserCaps} ...${props} post=${post} />`;
  if (name === 'prices')
    return html`<${PriceFactors}
      api=${api}
      account=${account}
      run=${(/** @type {unknown} */ body) => post('price-factors', body)}
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  if (name === 'alert' || name === 'secret' || name === 'save' || name === 'delete')
    return html`<${dialogs[name]} ...${props} />`;
  const { path, ...act } = actsOf(account, currency)[name];
  return html`<${Confirm}
    ...${act}
    title=${`${titles[name]} ${account.id}`}
    button=${titles[name]}
    run=${(/** @type {Record<string, string>} */ written) => post(path, written)}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/** @param {import('./account-data.js').Props & { post: (path: string, body: unknown) => Promise<unknown> }} props */
function EndUserCaps({ account, currency, post, onSaved, onClose }) {
  return html`<${CapsDialog}
    title=${`What the end users of ${account.id} may spend`}
    all="Each end user"
    partTitle="End user"
    caps=${{ day: account.end_user_caps?.day, month: account.end_user_caps?.month, total: account.end_user_caps?.total }}
    parts=${account.end_user_caps?.users.map(({ user, ...caps }) => ({ name: user, caps })) ?? []}
    currency=${currency}
    run=${(
      /** @type {{ caps: object, parts: readonly import('./caps.js').Part[], reason: string }} */ {
        caps,
        parts,
        reason: why,
      },
    ) =>
      post('end-user-caps', {
        ...caps,
        ignore_case: account.end_user_caps?.ignore_case ?? false,
        users: parts.map((part) => ({ user: part.name, ...part.caps })),
        reason: why,
      })}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/**
 * @param {Account} account
 * @param {string} currency
 * @returns {Record<Confirmed, Pick<Parameters<typeof Confirm>[0], 'fields' | 'effect'> & { path: string }>}
 */
function actsOf({ available, overdraft_limit: limit }, currency) {
  return {
    credit: {
      path: 'credits',
      fields: [
        { name: 'amount', label: `Amount in ${currency} (negative: a correction)` },
        { name: 'reference', label: 'Reference (a second credit with the same reference has no effect)' },
        { name: 'note', label: 'Reason (kept with your name)' },
      ],
      effect: ({ amount = '' }) =>
        isAmount(amount)
          ? `${money(amount.trim())} ${currency} is added to the ${money(available)} ${currency} available.`
          : 'The amount must be a number with at most six decimal places, such as 12.50.',
    },
    overdraft: {
      path: 'overdraft',
      fields: [
        {
          name: 'overdraft_limit',
          label: `How far the balance may go below zero, in ${currency}`,
          value: limit,
        },
        reason,
      ],
      effect: ({ overdraft_limit: written = '' }) =>
        isAmount(written)
          ? `The balance may go ${money(written.trim())} ${currency} below zero (currently: ${money(limit)} ${currency}). Existing holds remain.`
          : 'The limit must be a number with at most six decimal places, such as 12.50.',
    },
    close: {
      path: 'close',
      fields: [reason],
      effect: () =>
        'Within five seconds, all nodes stop creating anything new for the account. Tasks in flight continue and are settled, and keys can still read.',
    },
    reopen: {
      path: 'reopen',
      fields: [reason],
      effect: () => 'Within five seconds, the account’s keys can create tasks again, on every node.',
    },
  };
}
