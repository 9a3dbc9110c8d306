/** The question: who has how much left? */
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { Pages } from './pages.js';
import { usePosition, useRowKeys } from './row-keys.js';
import { changeQuery, goTo, linkTo } from './router.js';

/** @typedef {import('./types.d.ts').Account} Account */

/** @param {import('./types.d.ts').PageProps & { place: import('./router.js').Place }} props */
export function Accounts({ api, currency, place }) {
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
    </div>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Accounts"
        rows=${rows}
        keyOf=${(/** @type {Account} */ { id }) => id}
        onOpen=${(/** @type {Account} */ { id }) => goTo(linkTo(['accounts', id]))}
        empty="There is no account."
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
