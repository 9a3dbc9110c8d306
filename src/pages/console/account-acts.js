import { money } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { CapsDialog } from './caps.js';
import { Confirm } from './confirm.js';

/** @typedef {import('./types.d.ts').Account} Account */
/** @typedef {'credit' | 'overdraft' | 'caps' | 'close' | 'reopen'} ActName */

const reason = { name: 'reason', label: 'Reason (kept with your name)' };
const isAmount = (/** @type {string} */ text) => /^-?\d+(\.\d{1,6})?$/.test(text.trim());

/** @type {Record<ActName, string>} */
const titles = {
  credit: 'Credit',
  overdraft: 'Overdraft',
  caps: 'End users’ caps',
  close: 'Close',
  reopen: 'Reopen',
};

/** @type {Record<ActName, string>} The operation of each act. */
const operations = {
  credit: 'creditAccount',
  overdraft: 'setOverdraft',
  caps: 'setEndUserCaps',
  close: 'closeAccount',
  reopen: 'reopenAccount',
};

/** @param {{ account: Account, may: (word: string) => boolean, onAct: (name: ActName) => void }} props */
export function AccountActs({ account, may, onAct }) {
  /** @type {readonly ActName[]} */
  const names = ['credit', 'overdraft', 'caps', account.closed_at === null ? 'close' : 'reopen'];
  return html`<div class="row">
    ${names.filter((name) => may(operations[name])).map((name) => html`<button onClick=${() => onAct(name)}>${titles[name]}</button>`)}
  </div>`;
}

/**
 * One act on an account, with what it does before it is done.
 *
 * @param {{ name: ActName, account: Account, currency: string, post: (path: string, body: unknown) => Promise<unknown>, onClose: () => void }} props
 */
export function AccountAct({ name, account, currency, post, onClose }) {
  if (name === 'caps')
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
      onClose=${onClose}
    />`;
  const { path, ...act } = actsOf(account, currency)[name];
  return html`<${Confirm}
    ...${act}
    title=${`${titles[name]} ${account.id}`}
    button=${titles[name]}
    run=${(/** @type {Record<string, string>} */ written) => post(path, written)}
    onClose=${onClose}
  />`;
}

/**
 * @param {Account} account
 * @param {string} currency
 * @returns {Record<Exclude<ActName, 'caps'>, Pick<Parameters<typeof Confirm>[0], 'fields' | 'effect'> & { path: string }>}
 */
function actsOf({ available, overdraft_limit: limit }, currency) {
  return {
    credit: {
      path: 'credits',
      fields: [
        { name: 'amount', label: `Amount in ${currency} (negative: a correction)` },
        { name: 'reference', label: 'Reference (the same one is the same credit)' },
        { name: 'note', label: 'Reason (kept with your name)' },
      ],
      effect: ({ amount = '' }) =>
        isAmount(amount)
          ? `${money(amount.trim())} ${currency} are added to ${money(available)} ${currency} available.`
          : 'The amount is a number with at most six places, such as 12.50.',
    },
    overdraft: {
      path: 'overdraft',
      fields: [
        { name: 'overdraft_limit', label: `How far below zero, in ${currency}`, value: limit },
        reason,
      ],
      effect: ({ overdraft_limit: written = '' }) =>
        isAmount(written)
          ? `It may go ${money(written.trim())} ${currency} below zero, after ${money(limit)} ${currency} until now. What is held already stays held.`
          : 'The limit is a number with at most six places, such as 12.50.',
    },
    close: {
      path: 'close',
      fields: [reason],
      effect: () =>
        'Nothing new is created, on every node within five seconds. Tasks in flight continue and are settled; keys keep reading.',
    },
    reopen: {
      path: 'reopen',
      fields: [reason],
      effect: () => 'Its keys create tasks as before, on every node within five seconds.',
    },
  };
}
