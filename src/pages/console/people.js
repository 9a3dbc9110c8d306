import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { roleMeanings } from '../shared/roles.js';
import { root } from '../shared/root.js';
import { Secret } from '../shared/secret.js';
import { actionsColumn, Table } from '../shared/table.js';
import { Confirm } from './confirm.js';
import { Sessions } from './sessions.js';

/** @typedef {import('./types.d.ts').Operator} Operator */
/** @typedef {{ kind: 'invite' } | { kind: 'withdraw' | 'revoke' | 'roles', operator: Operator }} Doing */

const path = '/admin/v1/operators';
const invitations = `${path}/invitations`;

/** @param {import('./types.d.ts').PageProps & { self: import('./types.d.ts').Overview['operator'] }} props */
export function People({ api, may, self }) {
  /** @type {import('../shared/live.js').Live<{ data: readonly Operator[] }>} */
  const live = useLive(path, (signal) => api.get(path, signal), 15_000);
  const [doing, setDoing] = useState(/** @type {Doing | undefined} */ (undefined));
  const [link, setLink] = useState('');
  return html`<main>
    <div class="row apart head">
      <h1>People</h1>
      ${may('inviteOperator') && html`<button class="main" onClick=${() => setDoing({ kind: 'invite' })}>Invite</button>`}
    </div>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Operators"
        columns=${columnsOf(may, setDoing)}
        rows=${live.data.data}
        keyOf=${(/** @type {Operator} */ { name }) => name}
        empty="So far there is only the holder of ADMIN_TOKEN. Invite others, so that everyone acts under their own name."
      />`
    }
    <${Sessions} api=${api} may=${may} self=${self} />
    ${doing && html`<${Confirm} ...${dialogOf(doing, { api, self, onLink: setLink })} onSaved=${live.refresh} onClose=${() => setDoing(undefined)} />`}
    ${
      link !== '' &&
      html`<${Secret}
        title="The invitation"
        secret=${link}
        note="Send it to the person you invite. The first person to use it gets the token, and nobody else sees it."
        onClose=${() => setLink('')}
      />`
    }
  </main>`;
}

/** @type {Record<Operator['state'], import('../shared/parts.js').Tone>} */
const tones = { active: 'good', invited: 'busy', expired: 'idle', revoked: 'bad' };

/**
 * @param {(word: string) => boolean} may
 * @param {(doing: Doing) => void} onAct
 * @returns {readonly import('../shared/table.js').Column<Operator>[]}
 */
function columnsOf(may, onAct) {
  return [
    { title: 'Operator', cell: ({ name }) => name, by: ({ name }) => name },
    {
      title: 'State',
      isProse: true,
      cell: ({ state, invitation_expires_at: end }) =>
        html`<${Badge}
            tone=${tones[state]}
            word=${state}
          />${end !== null && html` <span class="soft small">the link expires <${Time} at=${end} /></span>`}`,
    },
    { title: 'Roles', isProse: true, cell: ({ roles }) => roles.join(', ') },
    {
      title: 'Token',
      cell: ({ prefix }) => (prefix === '' ? '–' : html`<span class="mono">${prefix}…</span>`),
    },
    { title: 'Last used', cell: ({ last_used_at: at }) => html`<${Time} at=${at} />` },
    { title: 'Since', cell: ({ created_at: at }) => html`<${Time} at=${at} />` },
    {
      title: 'By',
      cell: ({ created_by: by, revoked_by: revoker }) => (revoker === null ? by : `revoked by ${revoker}`),
    },
    ...(may('withdrawInvitation') || may('revokeOperator')
      ? [actionsColumn((/** @type {Operator} */ operator) => actOf(operator, may, onAct))]
      : []),
  ];
}

/** @param {Operator} operator @param {(word: string) => boolean} may @param {(doing: Doing) => void} onAct */
function actOf(operator, may, onAct) {
  const { name, state } = operator;
  if (state === 'invited' && may('withdrawInvitation'))
    return html`<button
      class="plain"
      aria-label=${`Withdraw: ${name}`}
      onClick=${() => onAct({ kind: 'withdraw', operator })}
    >
      Withdraw
    </button>`;
  if (state !== 'active' || !may('revokeOperator')) return '';
  return html`<button
      class="plain"
      aria-label=${`Roles: ${name}`}
      onClick=${() => onAct({ kind: 'roles', operator })}
    >
      Roles
    </button>
    <button
      class="plain"
      aria-label=${`Revoke: ${name}`}
      onClick=${() => onAct({ kind: 'revoke', operator })}
    >
      Revoke
    </button>`;
}

const daySeconds = 24 * 60 * 60;
const reason = { name: 'reason', label: 'Reason (kept with your name)' };

/**
 * @param {Doing} doing
 * @param {{ api: import('./types.d.ts').Api, self: import('./types.d.ts').Overview['operator'], onLink: (link: string) => void }} how
 * @returns {Omit<Parameters<typeof Confirm>[0], 'onClose'>}
 */
function dialogOf(doing, { api, self, onLink }) {
  if (doing.kind === 'invite') return invite(api, self, onLink);
  const { name, roles } = doing.operator;
  if (doing.kind === 'roles') return changeRoles(api, self, { name, roles });
  const own = `${doing.kind === 'withdraw' ? invitations : path}/${encodeURIComponent(name)}`;
  const run = ({ reason: why = '' }) => api.remove(withQuery(own, { reason: why }));
  if (doing.kind === 'withdraw')
    return {
      title: `Withdraw the invitation of ${name}`,
      button: 'Withdraw',
      fields: [reason],
      effect: () => 'The link stops working immediately, on every node.',
      run,
    };
  return {
    title: `Revoke ${name}`,
    button: 'Revoke',
    fields: [reason],
    effect: () =>
      `The console rejects the next request of ${name}, and the API rejects the token within five seconds. The records of what ${name} did are kept.`,
    run,
  };
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {import('./types.d.ts').Overview['operator']} self
 * @param {(link: string) => void} onLink
 * @returns {Omit<Parameters<typeof Confirm>[0], 'onClose'>}
 */
function invite(api, self, onLink) {
  return {
    title: 'Invite an operator',
    button: 'Create the link',
    fields: [
      { name: 'name', label: 'Name (in lowercase letters; shown in every record of what the operator does)' },
      rolesOffered(self),
      {
        name: 'valid_seconds',
        label: 'The link expires',
        value: String(3 * daySeconds),
        choices: [
          [String(daySeconds), 'in a day'],
          [String(3 * daySeconds), 'in three days'],
          [String(7 * daySeconds), 'in a week'],
        ],
      },
      { ...reason, isOptional: true },
    ],
    effect: ({ name = '', roles: picked = '' }) =>
      `Creates a link that can be used once. It gives ${name.trim() || 'the person who uses it'} a token with ${counted(picked.split(',').filter(Boolean).length + 1, 'role')}. You can grant only roles that you have yourself.`,
    async run({ name, roles: picked = '', valid_seconds: valid, reason: why }) {
      const body = {
        name,
        roles: picked.split(',').filter(Boolean),
        valid_seconds: Number(valid),
        reason: why,
      };
      /** @type {{ link: string }} */
      const invited = await api.post(invitations, body);
      onLink(new URL(invited.link, root).href);
    },
  };
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {import('./types.d.ts').Overview['operator']} self
 * @param {Pick<Operator, 'name' | 'roles'>} operator
 * @returns {Omit<Parameters<typeof Confirm>[0], 'onClose'>}
 */
function changeRoles(api, self, { name, roles }) {
  return {
    title: `Change the roles of ${name}`,
    button: 'Change',
    fields: [
      { ...rolesOffered(self), value: roles.filter((role) => role !== 'read').join(',') },
      { ...reason, isOptional: true },
    ],
    effect: () => `Replaces the roles of ${name} within five seconds. The token stays valid.`,
    run: ({ roles: picked = '', reason: why }) =>
      api.post(`${path}/${encodeURIComponent(name)}/roles`, {
        roles: picked.split(',').filter(Boolean),
        reason: why,
      }),
  };
}

/** @param {import('./types.d.ts').Overview['operator']} self */
function rolesOffered({ roles }) {
  const offered = roles.filter((role) => role !== 'admin' && role !== 'read');
  return {
    name: 'roles',
    label:
      'Roles (without any, operators can read everything except amounts, what callers wrote and the configuration draft)',
    isOptional: true,
    picks: offered.map((role) => [role, `${role} – ${meaningOf(role)}`]),
  };
}

/** @param {string} role */
function meaningOf(role) {
  const [, meaning = ''] = Object.entries(roleMeanings).find(([name]) => name === role) ?? [];
  return meaning.replaceAll('`', '').replace(/\. .*$/, '');
}
