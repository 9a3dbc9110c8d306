import { counted, money, roundMoney, words } from '../shared/format.js';
import { useLive, useVersions } from '../shared/live.js';
import { Facts, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { Secret } from '../shared/secret.js';
import { AccountAct, AccountActs } from './account-acts.js';
import { AccountUsage } from './account-usage.js';
import { capsText } from './caps.js';
import { Keys } from './keys.js';
import { Pages } from './pages.js';
import { linkTo } from './router.js';

/** @typedef {import('./types.d.ts').Account} Account */
/** @typedef {import('./types.d.ts').LedgerEntry} LedgerEntry */

/** @param {import('./types.d.ts').PageProps & { id: string }} props */
export function AccountPage({ api, may, currency, id }) {
  const path = `/admin/v1/accounts/${encodeURIComponent(id)}`;
  /** @type {import('../shared/live.js').Live<Account>} */
  const live = useLive(path, (signal) => api.get(path, signal), 15_000);
  const [act, setAct] = useState(/** @type {import('./account-acts.js').ActName | undefined} */ (undefined));
  const [secret, setSecret] = useState(/** @type {string | undefined} */ (undefined));
  const account = live.data;
  const place = html`<p class="small"><a href=${linkTo(['accounts'])}>Accounts</a> / ${id}</p>`;
  if (account === undefined) return html`<main>${place}<${LiveState} live=${live} /></main>`;
  return html`<main>
    ${place}
    <div class="row apart head">
      <h1>
        ${may('amounts') ? html`<span title=${money(account.available)}>${roundMoney(account.available)}</span> ${currency} <span class="soft">available</span>` : account.id}
      </h1>
      <${AccountActs} account=${account} may=${may} onAct=${setAct} />
    </div>
    <${LiveState} live=${live} />
    <${Facts} rows=${factsOf(account, { may, currency })} />
    <${Keys}
      api=${api}
      account=${account.id}
      may=${may}
      isClosed=${account.closed_at !== null}
      currency=${currency}
    />
    ${may('listUsage') && html`<${AccountUsage} api=${api} account=${account.id} currency=${currency} />`}
    ${
      may('listLedgerEntries') &&
      html`<h2>Ledger, newest first</h2>
        <${Ledger}
          api=${api}
          path=${`${path}/ledger`}
          version=${`${account.available} ${account.held}`}
          currency=${currency}
        />`
    }
    ${
      act &&
      html`<${AccountAct}
        name=${act}
        account=${account}
        currency=${currency}
        api=${api}
        path=${path}
        onIssued=${setSecret}
        onSaved=${live.refresh}
        onClose=${() => setAct(undefined)}
      />`
    }
    ${
      secret !== undefined &&
      html`<${Secret}
        title=${`The new webhook secret of ${account.id}`}
        secret=${secret}
        note="Give it to the owner of the account, who verifies callbacks with it."
        onClose=${() => setSecret(undefined)}
      />`
    }
  </main>`;
}

/**
 * @param {Account} account
 * @param {{ may: (word: string) => boolean, currency: string }} shown
 * @returns {readonly (readonly [string, unknown])[]}
 */
function factsOf(account, { may, currency }) {
  return [
    ['Name', account.name],
    ...(may('amounts') ? moneyFacts(account, currency) : []),
    ['Created', html`<${Time} at=${account.created_at} exact />`],
    ['Closed', account.closed_at && html`<${Time} at=${account.closed_at} exact />`],
    ['Deleted', account.deletion && deletionOf(account.deletion)],
    ['Tasks', html`<a href=${linkTo(['tasks'], { account: account.id })}>All tasks of this account</a>`],
  ];
}

/** @param {NonNullable<Account['deletion']>} deletion */
function deletionOf({ by, reason, requested_at: asked, finished_at: finished }) {
  return html`by ${by} <${Time} at=${asked} />: ${reason}
    ${finished === null ? ' (not everything is removed yet)' : html` (complete <${Time} at=${finished} />)`}`;
}

/**
 * @param {Account} account
 * @param {string} currency
 * @returns {readonly (readonly [string, unknown])[]}
 */
function moneyFacts(account, currency) {
  return [
    ['Held', `${money(account.held)} ${currency}`],
    ['Overdraft limit', `${money(account.overdraft_limit)} ${currency}`],
    ['Pays', priceFactors(account)],
    ['Each end user may spend', endUserCaps(account)],
  ];
}

/** @param {Account} account */
function priceFactors({ price_factors: factors }) {
  if (factors === null) return 'the list prices';
  const own = factors.models.map(({ model, factor }) => `${factor} times for ${model}`);
  return [`${factors.factor} times the list prices`, ...own].join('; ');
}

/** @param {Account} account */
function endUserCaps({ end_user_caps: caps }) {
  if (caps === null) return '';
  const own = caps.users.length === 0 ? '' : `${counted(caps.users.length, 'end user')} with their own caps`;
  return [capsText(caps), own, caps.ignore_case && 'names are not case-sensitive'].filter(Boolean).join('; ');
}

const pageSize = 50;

/**
 * @param {{ api: import('./types.d.ts').Api, path: string, version: string, currency: string }} props `version` changes
 * with every entry.
 */
function Ledger({ api, path, version, currency }) {
  const [before, setBefore] = useState(/** @type {number | undefined} */ (undefined));
  const page = withQuery(path, { limit: pageSize, order: 'newest', before });
  /** @type {import('../shared/live.js').Live<import('./types.d.ts').Page<LedgerEntry>>} */
  const live = useVersions(page, version, (signal) => api.get(page, signal));
  const columns = [
    { title: '#', isNumber: true, cell: (/** @type {LedgerEntry} */ { seq }) => seq },
    { title: 'Entry', cell: (/** @type {LedgerEntry} */ { kind }) => words(kind) },
    { title: `Amount ${currency}`, movement: (/** @type {LedgerEntry} */ { amount }) => amount },
    { title: `Available ${currency}`, money: (/** @type {LedgerEntry} */ { available }) => available },
    { title: `Held ${currency}`, money: (/** @type {LedgerEntry} */ { held }) => held },
    {
      title: 'Task or note',
      isProse: true,
      cell: (/** @type {LedgerEntry} */ { task, note }) =>
        task === null
          ? (note ?? '')
          : html`<a class="mono" href=${linkTo(['tasks'], { find: task })}>${task}</a> ${note}`,
    },
    { title: 'At', cell: (/** @type {LedgerEntry} */ { at }) => html`<${Time} at=${at} />` },
  ];
  const rows = live.data?.data ?? [];
  return html`<${LiveState} live=${live} /> ${
      live.data &&
      html`<${Table}
        label="Ledger"
        columns=${columns}
        rows=${rows}
        keyOf=${(/** @type {LedgerEntry} */ { id }) => id}
        empty="No ledger entries."
      />`
    }
    <${Pages}
      isFirst=${before === undefined}
      hasMore=${live.data?.has_more === true}
      onNewest=${() => setBefore(undefined)}
      onOlder=${() => setBefore(rows.at(-1)?.seq)}
    />`;
}
