import { words } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { actionsColumn, Table } from '../shared/table.js';
import { CapsDialog, capsText } from './caps.js';
import { Confirm } from './confirm.js';
import { NewKey, mayUse } from './new-key.js';
import { useModelNames } from './offers.js';
import { linkTo } from './router.js';
import { Pages } from './pages.js';
import { Secret } from '../shared/secret.js';

/** @typedef {import('./types.d.ts').Key} Key */
/** @typedef {{ kind: 'create' } | { kind: 'rotate' | 'revoke' | 'caps', key: Key }} Doing */
/** @typedef {import('./new-key.js').Issued} Issued */

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
  const onClose = () => setDoing(undefined);
  const props = { api, account, currency, may, onIssued: setIssued, onSaved: live.refresh, onClose };
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
        empty="The account has no keys."
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
        title=${issued.title}
        secret=${issued.secret}
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
      cell: (key) =>
        html`<a class="mono" title=${key.id} href=${linkTo(['tasks'], { key: key.id })}>${nameOf(key)}</a>`,
    },
    { title: 'Name', isProse: true, cell: ({ name }) => name },
    { title: 'State', isProse: true, cell: (key) => html`<${KeyState} of=${key} />` },
    { title: 'Permissions', isProse: true, cell: mayUse },
    { title: 'Caps', isProse: true, cell: maySpend },
    { title: 'Last used', cell: ({ last_used_at: at }) => html`<${Time} at=${at} />` },
    ...(kinds.length === 0 ? [] : [actionsColumn((/** @type {Key} */ key) => acts(key, kinds, onAct))]),
  ];
}

const keyActs = /** @type {const} */ (['caps', 'rotate', 'revoke']);
const operations = { caps: 'setKeyCaps', rotate: 'rotateKey', revoke: 'revokeKey' };

/** @param {Key} key @param {readonly (typeof keyActs)[number][]} kinds @param {(doing: Doing) => void} onAct */
function acts(key, kinds, onAct) {
  const state = stateOf(key);
  if (state !== 'valid' && state !== 'invited') return '';
  return html`<span class="row nowrap">
    ${kinds
      .filter((kind) => kind !== 'rotate' || (key.replaced_by === null && state === 'valid'))
      .map(
        (kind) =>
          html`<button
            class="plain"
            aria-label=${`${words(kind)}: ${nameOf(key)}`}
            onClick=${() => onAct({ kind, key })}
          >
            ${{ caps: 'Caps', rotate: 'Rotate', revoke: 'Revoke' }[kind]}
          </button>`,
      )}
  </span>`;
}

/** @param {Key} key */
function maySpend({ caps }) {
  const parts = caps?.models.map(({ model, ...own }) => `${model}: ${capsText(own) || 'no cap'}`) ?? [];
  return [capsText(caps), ...parts].filter(Boolean).join('; ') || html`<span class="soft">no cap</span>`;
}

/** @param {Key} key */
function nameOf({ id, prefix }) {
  return prefix === '' ? id : `${prefix}…`;
}

/** @param {Key} key @returns {'valid' | 'revoked' | 'expired' | 'invited'} */
function stateOf({ revoked_at: revoked, expires_at: expires, link_expires_at: link }) {
  if (revoked !== null) return 'revoked';
  if (link !== null) return link * 1000 < Date.now() ? 'expired' : 'invited';
  return expires !== null && expires * 1000 < Date.now() ? 'expired' : 'valid';
}

/** @type {Record<ReturnType<typeof stateOf>, import('../shared/parts.js').Tone>} */
const tones = { valid: 'good', revoked: 'bad', expired: 'idle', invited: 'busy' };

/** @param {{ of: Key }} props */
function KeyState({ of: key }) {
  const state = stateOf(key);
  return html`<${Badge} tone=${tones[state]} word=${state} />${
      state === 'valid' && key.expires_at !== null
        ? html` <span class="soft small"
            >${key.replaced_by === null ? 'ends' : 'replaced, ends'} <${Time} at=${key.expires_at}
          /></span>`
        : null
    }${state === 'invited' && html` <span class="soft small">the link expires <${Time} at=${key.link_expires_at} /></span>`}`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, account: string, currency: string, may: (word: string) => boolean, doing: Doing,
 *   onIssued: (issued: Issued) => void, onSaved: () => Promise<void>, onClose: () => void,
 * }} props
 */
function Act({ api, account, currency, may, doing, onIssued, onSaved, onClose }) {
  if (doing.kind === 'create')
    return html`<${NewKey}
      api=${api}
      account=${account}
      currency=${currency}
      may=${may}
      onIssued=${onIssued}
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  const { key } = doing;
  const own = `${path}/${encodeURIComponent(key.id)}`;
  if (doing.kind === 'caps')
    return html`<${KeyCaps}
      api=${api}
      of=${key}
      path=${own}
      currency=${currency}
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  if (doing.kind === 'rotate')
    return html`<${Rotate}
      api=${api}
      name=${nameOf(key)}
      path=${own}
      onIssued=${onIssued}
      onSaved=${onSaved}
      onClose=${onClose}
    />`;
  return html`<${Confirm}
    title=${`Revoke ${nameOf(key)}`}
    button="Revoke"
    fields=${[{ name: 'reason', label: 'Reason (kept with your name)' }]}
    effect=${() => 'Within five seconds, every node rejects the key. Its tasks keep running and are charged. This cannot be undone. To replace a key without a gap, rotate it instead.'}
    run=${({ reason = '' }) => api.remove(withQuery(own, { reason }))}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, of: Key, path: string, currency: string,
 *   onSaved: () => Promise<void>, onClose: () => void,
 * }} props
 */
function KeyCaps({ api, of: key, path: own, currency, onSaved, onClose }) {
  const { models } = useModelNames(api);
  return html`<${CapsDialog}
    title=${`What ${nameOf(key)} may spend`}
    all="All models together"
    partTitle="Model"
    partNames=${key.models ?? models}
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
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, name: string, path: string,
 *   onIssued: (issued: Issued) => void, onSaved: () => Promise<void>, onClose: () => void,
 * }} props
 */
function Rotate({ api, name, path: own, onIssued, onSaved, onClose }) {
  return html`<${Confirm}
    title=${`Replace ${name}`}
    button="Rotate"
    fields=${[
      {
        name: 'old',
        label: 'The old key expires',
        value: String(daySeconds),
        choices: [
          ['0', 'immediately'],
          ['3600', 'in an hour'],
          [String(daySeconds), 'in a day'],
          [String(7 * daySeconds), 'in a week'],
        ],
      },
      { name: 'reason', label: 'Reason (kept with your name)' },
    ]}
    effect=${() => 'Creates a new key with the same permissions, limits and caps. Both keys are valid until the old one expires.'}
    run=${async (/** @type {Record<string, string>} */ { old, reason }) => {
      /** @type {{ key: string }} */
      const { key } = await api.post(`${own}/rotate`, { old_valid_seconds: Number(old), reason });
      onIssued({
        title: 'The new key',
        secret: key,
        note: `${name} is rejected after that time. Switch to the new key before then.`,
      });
    }}
    onSaved=${onSaved}
    onClose=${onClose}
  />`;
}
