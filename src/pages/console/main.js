import { takeLink } from '../shared/invitation.js';
import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { html, render, useEffect, useState } from '../shared/preact.js';
import { createSession } from '../shared/session.js';
import { useSignIn } from '../shared/sign-in.js';
import { AccountPage } from './account.js';
import { Accounts } from './accounts.js';
import { learnActs } from './act-fields.js';
import { Audit } from './audit.js';
import { ChannelPage } from './channel.js';
import { Channels } from './channels.js';
import { Configuration } from './configuration.js';
import { Help } from './help.js';
import { useKeys } from './keyboard.js';
import { Models } from './models.js';
import { Money } from './money.js';
import { Nodes } from './nodes.js';
import { Now } from './now.js';
import { Invited } from './invited.js';
import { People } from './people.js';
import { goTo, linkTo, usePlace } from './router.js';
import { SignIn } from './sign-in.js';
import { Start } from './start.js';
import { TaskPage } from './task.js';
import { Tasks } from './tasks.js';

/** @typedef {import('./types.d.ts').Overview} Overview */

const session = createSession('mediary.operator');
const overviewPath = '/admin/v1/overview';
const actsPath = '/admin/v1/acts';
const tickMs = 15_000;

function Console() {
  const { api, isSignedIn, expired, signIn, signOut } = useSignIn({
    session,
    client: 'console',
    async enter(own) {
      /** @type {{ token: string }} */
      const { token } = await own.post('/admin/v1/sessions', undefined);
      return token;
    },
    // End only sessions that the console created. Any other token belongs to the operator and must stay valid.
    leave: async (own) => session.token()?.startsWith('os-') && own.remove('/admin/v1/sessions/current'),
  });
  const [link, setLink] = useState(takeLink);
  if (link !== undefined)
    return html`<${Invited}
      link=${link}
      onDone=${(/** @type {string} */ token) => void signIn(token).then(() => setLink(undefined))}
      onLeave=${() => setLink(undefined)}
    />`;
  if (!isSignedIn) return html`<${SignIn} expired=${expired} signIn=${signIn} />`;
  return html`<${Shell} api=${api} signOut=${signOut} />`;
}

const sections = [
  ['now', 'Now'],
  ['tasks', 'Tasks'],
  ['money', 'Money'],
  ['channels', 'Channels'],
  ['models', 'Models'],
  ['accounts', 'Accounts'],
  ['configuration', 'Configuration'],
  ['people', 'People'],
  ['nodes', 'Nodes'],
  ['audit', 'Audit'],
];

/** @param {{ api: import('./types.d.ts').Api, signOut: () => void }} props */
function Shell({ api, signOut }) {
  const place = usePlace();
  const [isHelping, setHelping] = useState(false);
  const [section = 'now'] = place.path;
  /** @type {import('../shared/live.js').Live<Overview>} */
  const live = useLive(
    overviewPath,
    (signal) => api.get(overviewPath, signal),
    section === 'now' ? 5_000 : tickMs,
  );
  /** @type {import('../shared/live.js').Live<boolean>} */
  const acts = useLive(actsPath, (signal) => loadActs(api, signal), 0);
  const overview = live.data;
  const waiting = overview?.attention.reduce((sum, { count }) => sum + count, 0) ?? 0;
  useEffect(() => {
    document.title = `${waiting === 0 ? '' : `(${waiting}) `}Mediary console`;
    /** @type {HTMLLinkElement | null} */
    const icon = document.querySelector('link[rel=icon]');
    const count = waiting === 0 ? '' : `-${waiting > 9 ? 'more' : waiting}`;
    if (icon !== null) icon.href = icon.href.replace(/icon[^/]*\.svg$/, `icon${count}.svg`);
  }, [waiting]);
  const isFirstRun = overview?.first_run === true;
  useEffect(() => {
    if (isFirstRun && place.path.length === 0) goTo(linkTo(['start']));
  }, [isFirstRun]);
  useKeys({
    '?': () => setHelping(true),
    ...(section === 'tasks' ? {} : { '/': () => goTo(linkTo(['tasks'], { focus: 'find' })) }),
  });
  return html`<div class="shell">
    <header>
      <a class="brand" href="#/now">Mediary</a>
      <nav aria-label="Sections">
        ${sections
          .filter(
            ([name]) => name !== 'money' || overview?.operator.operations.includes('getMargin') === true,
          )
          .map(
            ([name = '', title]) =>
              html`<a href=${linkTo([name])} aria-current=${name === section ? 'page' : undefined}>
                ${title}${name === 'now' && waiting > 0 ? html` <span class="badge warn">${waiting}</span>` : null}
              </a>`,
          )}
      </nav>
      <div class="who small">
        ${overview && html`<span class="soft">${overview.operator.name} (${overview.operator.roles.includes('admin') ? 'admin' : overview.operator.roles.join(', ')})</span>`}
        <button class="plain" onClick=${() => setHelping(true)}>Shortcuts</button>
        <button class="plain" onClick=${signOut}>Sign out</button>
      </div>
    </header>
    ${
      overview === undefined || acts.data === undefined
        ? html`<main><${LiveState} live=${overview === undefined ? live : acts} /></main>`
        : html`<${Section} api=${api} place=${place} live=${live} overview=${overview} />`
    }
    ${isHelping && html`<${Help} onClose=${() => setHelping(false)} />`}
  </div>`;
}

/**
 * Called only once, because the actions are built into the gateway.
 *
 * @param {import('./types.d.ts').Api} api
 * @param {AbortSignal} signal
 */
async function loadActs(api, signal) {
  /** @type {{ data: readonly import('./types.d.ts').Act[] }} */
  const { data } = await api.get(actsPath, signal);
  learnActs(data);
  return true;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api,
 *   place: import('./router.js').Place,
 *   live: import('../shared/live.js').Live<Overview>,
 *   overview: Overview,
 * }} props
 */
function Section({ api, place, live, overview }) {
  const [section = 'now', id] = place.path;
  const props = {
    api,
    may: (/** @type {string} */ word) =>
      [...overview.operator.operations, ...overview.operator.roles].includes(word),
    currency: overview.currency,
    workflowsUrl: overview.workflows_url,
  };
  if (section === 'now') return html`<${Now} ...${props} live=${live} overview=${overview} />`;
  if (section === 'start') return html`<${Start} ...${props} />`;
  if (section === 'tasks' && id !== undefined) return html`<${TaskPage} key=${id} ...${props} id=${id} />`;
  if (section === 'tasks') return html`<${Tasks} ...${props} place=${place} overview=${overview} />`;
  if (section === 'money') return html`<${Money} ...${props} place=${place} />`;
  if (section === 'channels' && id !== undefined)
    return html`<${ChannelPage} key=${id} ...${props} id=${id} />`;
  if (section === 'channels') return html`<${Channels} ...${props} />`;
  if (section === 'models') return html`<${Models} ...${props} />`;
  if (section === 'accounts' && id !== undefined)
    return html`<${AccountPage} key=${id} ...${props} id=${id} />`;
  if (section === 'accounts') return html`<${Accounts} ...${props} place=${place} />`;
  if (section === 'configuration') return html`<${Configuration} ...${props} />`;
  if (section === 'people') return html`<${People} ...${props} self=${overview.operator} />`;
  if (section === 'nodes') return html`<${Nodes} ...${props} />`;
  if (section === 'audit') return html`<${Audit} ...${props} place=${place} />`;
  return html`<main>
    <h1>There is no such page</h1>
    <p><a href="#/now">Now</a></p>
  </main>`;
}

const root = document.getElementById('app');
if (root !== null) render(html`<${Console} />`, root);
