import { useLive } from '../shared/live.js';
import { LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { withQuery } from '../shared/query.js';
import { actionsColumn, Table } from '../shared/table.js';
import { Confirm } from './confirm.js';

/** @typedef {import('./types.d.ts').OperatorSession} Session */

const path = '/admin/v1/sessions';
const reason = { name: 'reason', label: 'Reason (kept with your name)', isOptional: true };

/**
 * @param {{
 *   api: import('./types.d.ts').Api, may: (word: string) => boolean, self: import('./types.d.ts').Overview['operator'],
 * }} props
 */
export function Sessions({ api, may, self }) {
  /** @type {import('../shared/live.js').Live<{ data: readonly Session[] }>} */
  const live = useLive(path, (signal) => api.get(path, signal), 15_000);
  const [doing, setDoing] = useState(/** @type {'all' | Session | undefined} */ (undefined));
  const seesAll = may('access');
  const others = live.data?.data.filter(({ current }) => !current) ?? [];
  const dialog =
    doing === 'all'
      ? {
          title: 'End all other sessions',
          effect: () =>
            `${seesAll ? 'Everybody else is' : 'Your other browsers are'} signed out of the console at the next request, on every node. Tokens stay valid.`,
          run: ({ reason: why = '' }) =>
            api.remove(withQuery(path, { operator: seesAll ? '*' : self.name, reason: why })),
        }
      : doing && {
          title: `End a session of ${doing.operator}`,
          effect: () =>
            `${doing.operator} is signed out of this session at the next request, on every node. The token stays valid.`,
          run: ({ reason: why = '' }) => api.remove(withQuery(`${path}/${doing.id}`, { reason: why })),
        };
  return html`<div class="row apart">
      <h2>${seesAll ? 'Sessions of the console' : 'Your sessions'}</h2>
      ${others.length > 0 && html`<button onClick=${() => setDoing('all')}>End all others</button>`}
    </div>
    <${LiveState} live=${live} />
    ${
      live.data &&
      html`<${Table}
        label="Sessions"
        columns=${columnsOf(setDoing)}
        rows=${live.data.data}
        keyOf=${(/** @type {Session} */ { id }) => id}
        empty="Nobody has signed in."
      />`
    }
    ${
      dialog &&
      html`<${Confirm}
        ...${dialog}
        button="End"
        fields=${[reason]}
        onSaved=${live.refresh}
        onClose=${() => setDoing(undefined)}
      />`
    }`;
}

/**
 * @param {(session: Session) => void} onEnd
 * @returns {readonly import('../shared/table.js').Column<Session>[]}
 */
function columnsOf(onEnd) {
  return [
    { title: 'Operator', cell: ({ operator }) => operator, by: ({ operator }) => operator },
    { title: 'Since', cell: ({ created_at: at }) => html`<${Time} at=${at} />` },
    { title: 'Last used', cell: ({ last_used_at: at }) => html`<${Time} at=${at} />` },
    { title: 'Ends', cell: ({ expires_at: at }) => html`<${Time} at=${at} />` },
    { title: 'Address', cell: ({ address }) => html`<span class="mono">${address}</span>` },
    { title: 'Browser', isProse: true, cell: ({ browser }) => browserOf(browser) },
    actionsColumn((/** @type {Session} */ session) =>
      session.current
        ? html`<span class="soft">this one</span>`
        : html`<button
            class="plain"
            aria-label=${`End: ${session.operator}, ${session.id}`}
            onClick=${() => onEnd(session)}
          >
            End
          </button>`,
    ),
  ];
}

/** @param {string} agent */
function browserOf(agent) {
  const [name] = /(?:Edg|OPR|Firefox|Chrome|Version)\/\d+/.exec(agent) ?? [];
  const [system] = /Windows|Macintosh|Android|iPhone|iPad|Linux/.exec(agent) ?? [];
  const short = [name?.replace('/', ' ').replace('Version', 'Safari').replace('Edg ', 'Edge '), system];
  return html`<span title=${agent}>${short.filter(Boolean).join(', ') || agent}</span>`;
}
