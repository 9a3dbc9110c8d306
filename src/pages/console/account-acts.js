import { money } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { CapsDialog } from './caps.js';
import { Confirm } from './confirm.js';

/** @typedef {import('./types.d.ts').Account} Account */
/** @typedef {'credit' | 'overdraft' | 'prices' | 'caps' | 'close' | 'reopen'} ActName */

const reason = { name: 'reason', label: 'Reason (kept with your name)' };
export const isAmount = (/** @type {string} */ text) => /^-?\d+(\.\d{1,6})?$/.test(text.trim());

/** @type {Record<ActName, string>} */
const titles = {
  credit: 'Credit',
  overdraft: 'Overdraft',
  prices: 'Prices',
  caps: 'End users’ caps',
  close: 'Close the account',
  reopen: 'Reopen',
};

/** @type {Record<ActName, string>} */
const operations = {
  credit: 'creditAccount',
  overdraft: 'setOverdraft',
  prices: 'setPriceFactors',
  caps: 'setEndUserCaps',
  close: 'closeAccount',
  reopen: 'reopenAccount',
};

/** @param {{ account: Account, may: (word: string) => boolean, onAct: (name: ActName) => void }} props */
export function AccountActs({ account, may, onAct }) {
  /** @type {readonly ActName[]} */
  const names = ['credit', 'overdraft', 'prices', 'caps', account.closed_at === null ? 'close' : 'reopen'];
  return html`<div class="row">
    ${names.filter((name) => may(operations[name])).map((name) => html`<button class=${name === 'close' ? 'destructive' : undefined} onClick=${() => onAct(name)}>${titles[name]}</button>`)}
  </div>`;
}

/**
 * @param {{ name: ActName, account: Account, currency: string, post: (path: string, body: unknown) => Promise<unknown>, onSaved: () => Promise<void>, onClose: () => void }} props
 */
export function AccountAct({ name, account, currency, post, onSaved, onClose }) {
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
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  const {
    path,
    bodyOf = (/** @type {Record<string, string>} */ written) => written,
    ...act
  } = actsOf(account, currency)[name];
  return html`<${Confirm}
    ...${act}
    title=${`${titles[name]} ${account.id}`}
    button=${titles[name]}
    run=${(/** @type {Record<string, string>} */ written) => post(path, bodyOf(written))}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/**
 * @param {Account} account
 * @param {string} currency
 * @returns {Record<Exclude<ActName, 'caps'>, Pick<Parameters<typeof Confirm>[0], 'fields' | 'effect'> & { path: string, bodyOf?: (written: Record<string, string>) => object }>}
 */
function actsOf({ available, overdraft_limit: limit, price_factors: factors }, currency) {
  return {
    credit: {
      path: 'credits',
      fields: [
        { name: 'amount', label: `Amount in ${currency} (negative: a correction)` },
        { name: 'reference', label: 'Reference (credits with the same reference are booked once)' },
        { name: 'note', label: 'Reason (kept with your name)' },
      ],
      effect: ({ amount = '' }) =>
        isAmount(amount)
          ? `${money(amount.trim())} ${currency} is added to the ${money(available)} ${currency} available.`
          : 'The amount is a number with at most six places, such as 12.50.',
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
          ? `It may go ${money(written.trim())} ${currency} below zero (currently: ${money(limit)} ${currency}). Existing holds stay.`
          : 'The limit is a number with at most six places, such as 12.50.',
    },
    prices: pricesAct(factors),
    close: {
      path: 'close',
      fields: [reason],
      effect: () =>
        'Within five seconds, no node creates anything new. Tasks in flight continue and are settled, and keys can still read.',
    },
    reopen: {
      path: 'reopen',
      fields: [reason],
      effect: () => 'Within five seconds, its keys can create tasks on every node again.',
    },
  };
}

/** @param {string} text */
function modelFactors(text) {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter(Boolean).map((part) => {
    const equals = part.lastIndexOf('=');
    return { model: part.slice(0, equals).trim(), factor: part.slice(equals + 1).trim() };
  });
}

/**
 * @param {Account['price_factors']} factors
 * @returns {ReturnType<typeof actsOf>['prices']}
 */
function pricesAct(factors) {
  return {
    path: 'price-factors',
    fields: [
      {
        name: 'factor',
        label: 'Factor for all prices (0.9: ten per cent less)',
        value: factors?.factor ?? '1',
      },
      {
        name: 'models',
        label: 'Different factors for single models, such as clip-1=0.8, clip-2=1.1',
        value: factors?.models.map(({ model, factor }) => `${model}=${factor}`).join(', ') ?? '',
        isOptional: true,
      },
      reason,
    ],
    bodyOf: ({ models = '', ...rest }) => ({ ...rest, models: modelFactors(models) }),
    effect: ({ factor = '', models = '' }) =>
      [factor, ...modelFactors(models).map((one) => one.factor)].every(
        (one) => isAmount(one) && Number(one) >= 0,
      )
        ? 'Within five seconds, holds and charges of new tasks are multiplied by this factor. Tasks in flight keep the factor that was frozen with their hold.'
        : 'A factor is a number from 0 to 100 with at most six places, such as 0.9.',
  };
}
