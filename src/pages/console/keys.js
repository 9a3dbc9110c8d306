/** The question: which keys use this account, and what may each of them do and spend? */
import { words } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { Table } from '../shared/table.js';
import { CapsDialog, capsText } from './caps.js';
import { Confirm } from './confirm.js';
import { createBody } from './new-key.js';
import { linkTo } from './router.js';
import { Pages } from './pages.js';
import { Secret } from './secret.js';

/** @typedef {import('./types.d.ts').Key} Key */
/** @typedef {{ kind: 'create' } | { kind: 'rotate' | 'revoke' | 'caps', key: Key }} Doing */
/** @typedef {{ key: string, note: string }} Issued */

const path = '/admin/v1/keys';
const pageSize = 50;
const daySeconds = 24 * 60 * 60;

/**
 * @param {{ api: import('./types.d.ts').Api, account: string, may: (word: string) => boolean, isClosed: boolean, currency: string }} props
 */
export function Keys({ api, account, may, isClosed, currency }) {
  const [after, setAfter] = useState(/** @type {string | undefined} */ (undefined));
  const list = withQuery(path, { account, limit: pageSize, after });
  /** @type {import('../shared/live.js').Live<import('./types.d.ts').Page<Key>>} */
  const live = useLive(list, (signal) => api.get(list, signal), 0);
  const [doing, setDoing] = useState(/** @type {Doing | undefined} */ (undefined));
  const [issued, setIssued] = useState(/** @type {Issued | undefined} */ (undefined));
  const onClose = () => {
    setDoing(undefined);
    live.refresh();
  };
  const props = { api, account, currency, onIssued: setIssued, onClose };
  return html`<div class="row apart">
      <h2>Keys</h2>
      ${may('createKey') && !isClosed && html`<button onClick=${() => setDoing({ kind: 'create' })}>Create a key</button>`}
    </div>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Keys"
        columns=${columnsOf(setDoing, may)}
        rows=${live.data.data}
        keyOf=${(/** @type {Key} */ { id }) => id}
        empty="It has no key."
      />`
    }
    <${Pages}
      newest="Newest keys"
      older="Older keys"
      isFirst=${after === undefined}
      hasMore=${live.data?.has_more === true}
      onNewest=${() => setAfter(undefined)}
      onOlder=${() => setAfter(live.data?.data.at(-1)?.id)}
    />
    ${doing && html`<${Act} ...${props} doing=${doing} />`}
    ${
      issued &&
      html`<${Secret}
        title="The new key"
        secret=${issued.key}
        note=${issued.note}
        onClose=${() => setIssued(undefined)}
      />`
    }`;
}

/**
 * @param {(doing: Doing) => void} onAct
 * @param {(word: string) => boolean} may
 * @returns {readonly import('../shared/table.js').Column<Key>[]}
 */
function columnsOf(onAct, may) {
  const kinds = keyActs.filter((kind) => may(operations[kind]));
  return [
    {
      title: 'Key',
      cell: ({ id, prefix }) =>
        html`<a class="mono" title=${id} href=${linkTo(['tasks'], { key: id })}>${prefix}…</a>`,
    },
    { title: 'Name', isProse: true, cell: ({ name }) => name },
    { title: 'State', cell: (key) => html`<${KeyState} of=${key} />` },
    { title: 'May use', isProse: true, cell: mayUse },
    { title: 'May spend', isProse: true, cell: maySpend },
    { title: 'Last used', cell: ({ last_used_at: at }) => html`<${Time} at=${at} />` },
    ...(kinds.length === 0
      ? []
      : [{ title: 'Acts', cell: (/** @type {Key} */ key) => acts(key, kinds, onAct) }]),
  ];
}

const keyActs = /** @type {const} */ (['caps', 'rotate', 'revoke']);
/** The operation of each act. */
const operations = { caps: 'setKeyCaps', rotate: 'rotateKey', revoke: 'revokeKey' };

/** @param {Key} key @param {readonly (typeof keyActs)[number][]} kinds @param {(doing: Doing) => void} onAct */
function acts(key, kinds, onAct) {
  if (stateOf(key) !== 'valid') return '';
  return html`<span class="row nowrap">
    ${kinds
      .filter((kind) => kind !== 'rotate' || key.replaced_by === null)
      .map(
        (kind) =>
          html`<button
            class="plain"
            aria-label=${`${words(kind)}: ${key.prefix}`}
            onClick=${() => onAct({ kind, key })}
          >
            ${{ caps: 'Caps', rotate: 'Rotate', revoke: 'Revoke' }[kind]}
          </button>`,
      )}
  </span>`;
}

/** @param {Key} key */
function mayUse(key) {
  const { models, channels, requests_per_minute: rate, concurrent_tasks: concurrent } = key;
  const { strict, end_user_required: namesUser } = key;
  const { scopes, addresses, routes, duration_max: seconds, resolution_max: resolution } = key;
  return [
    scopes.map(words).join(', '),
    models === null ? 'all models' : models.join(', '),
    channels !== null && `by ${channels.join(', ')}`,
    rate !== null && `${rate.toLocaleString('en')} requests a minute`,
    concurrent !== null && `${concurrent.toLocaleString('en')} tasks at once`,
    seconds !== null && `videos of ${seconds.toLocaleString('en')} s at most`,
    resolution !== null && `${resolution} at most`,
    addresses !== null && `from ${addresses.join(', ')}`,
    strict && 'no field without effect',
    namesUser && 'the end user named',
    routes !== null && `by ${routes.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
}

/** @param {Key} key */
function maySpend({ caps }) {
  const parts = caps?.models.map(({ model, ...own }) => `${model}: ${capsText(own) || 'no cap'}`) ?? [];
  return [capsText(caps), ...parts].filter(Boolean).join('; ') || html`<span class="soft">no cap</span>`;
}

/** @param {Key} key @returns {'valid' | 'revoked' | 'expired'} */
function stateOf({ revoked_at: revoked, expires_at: expires }) {
  if (revoked !== null) return 'revoked';
  return expires !== null && expires * 1000 < Date.now() ? 'expired' : 'valid';
}

/** @type {Record<ReturnType<typeof stateOf>, import('../shared/parts.js').Tone>} */
const tones = { valid: 'good', revoked: 'bad', expired: 'idle' };

/** @param {{ of: Key }} props */
function KeyState({ of: key }) {
  const state = stateOf(key);
  return html`<${Badge} tone=${tones[state]} word=${state} />${
      state === 'valid' && key.expires_at !== null
        ? html` <span class="soft small"
            >${key.replaced_by === null ? 'ends' : 'replaced, ends'} <${Time} at=${key.expires_at}
          /></span>`
        : null
    }`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, account: string, currency: string, doing: Doing,
 *   onIssued: (issued: Issued) => void, onClose: () => void,
 * }} props
 */
function Act({ api, account, currency, doing, onIssued, onClose }) {
  if (doing.kind === 'create')
    return html`<${Create} api=${api} account=${account} onIssued=${onIssued} onClose=${onClose} />`;
  const { key } = doing;
  const own = `${path}/${encodeURIComponent(key.id)}`;
  if (doing.kind === 'caps')
    return html`<${CapsDialog}
      title=${`What ${key.prefix}… may spend`}
      all="All models together"
      partTitle="Model"
      caps=${{ day: key.caps?.day, month: key.caps?.month, total: key.caps?.total }}
      parts=${key.caps?.models.map(({ model: name, ...caps }) => ({ name, caps })) ?? []}
      currency=${currency}
      run=${(
        /** @type {{ caps: object, parts: readonly import('./caps.js').Part[], reason: string }} */ {
          caps,
          parts,
          reason,
        },
      ) =>
        api.post(`${own}/caps`, {
          ...caps,
          models: parts.map((part) => ({ model: part.name, ...part.caps })),
          reason,
        })}
      onClose=${onClose}
    />`;
  if (doing.kind === 'rotate')
    return html`<${Rotate}
      api=${api}
      prefix=${key.prefix}
      path=${own}
      onIssued=${onIssued}
      onClose=${onClose}
    />`;
  return html`<${Confirm}
    title=${`Revoke ${key.prefix}…`}
    button="Revoke"
    fields=${[{ name: 'reason', label: 'Reason (kept with your name)' }]}
    effect=${() => 'Whoever uses it is refused within five seconds, on every node. Its tasks keep running and are charged. It cannot be undone: to replace a key without a gap, rotate it.'}
    run=${({ reason = '' }) => api.remove(withQuery(own, { reason }))}
    onClose=${onClose}
  />`;
}

/**
 * @param {{ api: import('./types.d.ts').Api, account: string, onIssued: (issued: Issued) => void, onClose: () => void }} props
 */
function Create({ api, account, onIssued, onClose }) {
  return html`<${Confirm}
    title=${`A new key of ${account}`}
    button="Create"
    fields=${[
      { name: 'name', label: 'Name' },
      {
        name: 'scopes',
        label: 'What it may do',
        value: 'create,read_own',
        choices: [
          ['create,read_own', 'Create, and read what it created'],
          ['create', 'Create only'],
          ['read_own,read_account', 'Read the whole account'],
          ['create,read_own,read_account', 'Create, and read the whole account'],
          ['create,read_own,read_account,manage', 'Everything, the webhook secret and alerts included'],
        ],
      },
      { name: 'addresses', label: 'From these addresses or networks only (empty: any)', isOptional: true },
      { name: 'routes', label: 'For these operations only, by operationId (empty: all)', isOptional: true },
      { name: 'duration_max', label: 'Longest video, in seconds (empty: any)', isOptional: true },
      { name: 'resolution_max', label: 'Largest resolution, such as 1080p (empty: any)', isOptional: true },
      { name: 'models', label: 'Models, separated by commas (empty: all)', isOptional: true },
      { name: 'requests_per_minute', label: 'Requests a minute (empty: any number)', isOptional: true },
      { name: 'concurrent_tasks', label: 'Tasks at once (empty: any number)', isOptional: true },
      {
        name: 'end_user_required',
        label: 'Must every request name its end user?',
        value: 'false',
        choices: [
          ['false', 'No'],
          ['true', 'Yes'],
        ],
      },
      {
        name: 'strict',
        label: 'A field without effect is',
        value: 'false',
        choices: [
          ['false', 'a warning'],
          ['true', 'an error'],
        ],
      },
      { name: 'days', label: 'Ends after how many days (empty: never)', isOptional: true },
    ]}
    effect=${() => `The key spends what ${account} has. It is shown once, here.`}
    run=${async (/** @type {Record<string, string>} */ written) => {
      /** @type {Key & { key: string }} */
      const created = await api.post(path, { account, ...createBody(written, Date.now() / 1000) });
      onIssued({ key: created.key, note: `It is valid at once, for ${mayUse(created)}.` });
    }}
    onClose=${onClose}
  />`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, prefix: string, path: string,
 *   onIssued: (issued: Issued) => void, onClose: () => void,
 * }} props
 */
function Rotate({ api, prefix, path: own, onIssued, onClose }) {
  return html`<${Confirm}
    title=${`Replace ${prefix}…`}
    button="Rotate"
    fields=${[
      {
        name: 'old',
        label: 'The old key ends',
        value: String(daySeconds),
        choices: [
          ['0', 'at once'],
          ['3600', 'in an hour'],
          [String(daySeconds), 'in a day'],
          [String(7 * daySeconds), 'in a week'],
        ],
      },
      { name: 'reason', label: 'Reason (kept with your name)' },
    ]}
    effect=${() => 'A new key with the same permissions, limits and caps; both are valid until the old one ends.'}
    run=${async (/** @type {Record<string, string>} */ { old, reason }) => {
      /** @type {{ key: string }} */
      const { key } = await api.post(`${own}/rotate`, { old_valid_seconds: Number(old), reason });
      onIssued({
        key,
        note: `${prefix}… is refused once its time is over: put the new key into use before.`,
      });
    }}
    onClose=${onClose}
  />`;
}
