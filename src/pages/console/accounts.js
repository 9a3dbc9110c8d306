import { errorOf } from '../shared/api.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Secret } from '../shared/secret.js';
import { Table } from '../shared/table.js';
import { isAmount } from './account-acts.js';
import { Confirm, mistake } from './confirm.js';
import { Pages } from './pages.js';
import { usePosition, useRowKeys } from './row-keys.js';
import { changeQuery, goTo, linkTo } from './router.js';

/** @typedef {import('./types.d.ts').Account} Account */
/**
 * @typedef {Account & { webhook_secret: string, uncredited?: string }} Created `uncredited` says why the first credit
 * failed.
 */

/** @param {import('./types.d.ts').PageProps & { place: import('./router.js').Place }} props */
export function Accounts({ api, may, currency, place }) {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState(/** @type {Created | undefined} */ (undefined));
  const after = place.query.get('after') ?? undefined;
  const path = withQuery('/admin/v1/accounts', { limit: 50, after });
  /** @type {import('../shared/live.js').Live<import('./types.d.ts').Page<Account>>} */
  const live = useLive(path, (signal) => api.get(path, signal), 15_000);
  const rows = live.data?.data ?? [];
  useRowKeys();
  usePosition(path, live.data !== undefined);
  return html`<main>
    <div class="row apart head">
      <h1>Accounts</h1>
      <div class="row">
        <form
          class="search"
          onSubmit=${(/** @type {SubmitEvent & { currentTarget: HTMLFormElement }} */ event) => {
            event.preventDefault();
            const id = new FormData(event.currentTarget).get('id');
            if (typeof id === 'string') goTo(linkTo(['accounts', id.trim()]));
          }}
        >
          <input name="id" required aria-label="Id of an account" placeholder="Id of an account" />
          <button>Open</button>
        </form>
        ${may('createAccount') && html`<button class="main" onClick=${() => setCreating(true)}>Create an account</button>`}
      </div>
    </div>
    ${isCreating && created === undefined && html`<${Confirm} ...${createDialog({ api, may, currency, onCreated: setCreated })} onClose=${() => setCreating(false)} />`}
    ${
      created &&
      html`<${WebhookSecret} of=${created} onClose=${() => goTo(linkTo(['accounts', created.id]))} />`
    }
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Accounts"
        rows=${rows}
        keyOf=${(/** @type {Account} */ { id }) => id}
        onOpen=${(/** @type {Account} */ { id }) => goTo(linkTo(['accounts', id]))}
        empty="There are no accounts."
        columns=${columnsOf(currency)}
      />`
    }
    <${Pages}
      newest="First"
      older="Next"
      isFirst=${after === undefined}
      hasMore=${live.data?.has_more === true}
      onNewest=${() => changeQuery(place, { after: undefined })}
      onOlder=${() => changeQuery(place, { after: rows.at(-1)?.id })}
    />
  </main>`;
}

/** @param {{ of: Created, onClose: () => void }} props */
export function WebhookSecret({ of: { webhook_secret: secret, uncredited }, onClose }) {
  return html`<${Secret}
    title="The account’s webhook secret"
    secret=${secret}
    note=${html`The owner of the account verifies callbacks with it. It can be replaced later.
    ${uncredited !== undefined && html`<strong role="alert"> The account was created, but its first credit failed: ${uncredited}</strong>`}`}
    onClose=${onClose}
  />`;
}

/**
 * @param {string} currency
 * @returns {readonly import('../shared/table.js').Column<Account>[]}
 */
function columnsOf(currency) {
  return [
    { title: 'Account', cell: ({ id }) => html`<a href=${linkTo(['accounts', id])}>${id}</a>` },
    { title: 'Name', isProse: true, cell: ({ name }) => name },
    { title: `Available ${currency}`, money: ({ available }) => available },
    { title: `Held ${currency}`, money: ({ held }) => held },
    { title: `Overdraft ${currency}`, money: ({ overdraft_limit: limit }) => limit },
    {
      title: 'State',
      cell: ({ closed_at: closed }) =>
        closed === null
          ? html`<${Badge} tone="good" word="open" />`
          : html`<${Badge} tone="idle" word="closed" />`,
    },
    { title: 'Created', cell: ({ created_at: at }) => html`<${Time} at=${at} />` },
  ];
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, may: (word: string) => boolean, currency: string, onCreated: (created: Created) => void,
 * }} how
 * @returns {Omit<Parameters<typeof Confirm>[0], 'onClose'>}
 */
export function createDialog({ api, may, currency, onCreated }) {
  const amounts = [
    { name: 'amount', label: `First credit, in ${currency} (empty: none)`, isOptional: true },
    {
      name: 'overdraft_limit',
      label: `How far the balance may go below zero, in ${currency} (empty: never below zero)`,
      isOptional: true,
    },
  ];
  return {
    title: 'Create an account',
    button: 'Create',
    fields: [
      { name: 'id', label: 'Id (cannot be changed later): letters, digits, dots, dashes and underscores' },
      { name: 'name', label: 'Name', isOptional: true },
      ...(may('creditAccount') ? amounts : []),
    ],
    effect: ({ amount = '' }) =>
      `Creates the account${amount.trim() === '' ? ' without money' : ` and adds ${amount.trim()} ${currency}`}. Its webhook secret is shown once, here.`,
    async run({ id = '', name, amount = '', overdraft_limit: limit = '' }) {
      if (amount !== '' && !(isAmount(amount) && Number(amount) > 0))
        throw mistake(
          'amount',
          'The credit must be a positive number with at most six decimal places, such as 12.50.',
        );
      /** @type {Created} */
      const created = await api.post('/admin/v1/accounts', {
        id,
        name,
        ...(limit === '' ? {} : { overdraft_limit: limit }),
      });
      // Show the secret before adding the credit, because the gateway returns the secret only once.
      onCreated(created);
      if (amount === '') return;
      const credit = { amount, reference: 'first', note: 'first credit' };
      try {
        await api.post(`/admin/v1/accounts/${encodeURIComponent(id)}/credits`, credit);
      } catch (thrown) {
        onCreated({ ...created, uncredited: errorOf(thrown).message });
      }
    },
  };
}
