import { words } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { Facts } from '../shared/parts.js';
import { html, render, useLayoutEffect, useState } from '../shared/preact.js';
import { Invitation, takeLink } from '../shared/invitation.js';
import { SignIn, useSignIn } from '../shared/sign-in.js';
import { KeyPage } from './key.js';
import { Playground } from './playground.js';
import { session } from './session.js';
import { TaskPage } from './task.js';
import { Tasks } from './tasks.js';
import { UsagePage } from './usage.js';
import { WebhooksPage } from './webhooks.js';

const balanceMs = 10_000;

function Account() {
  const { api, isSignedIn, expired, signIn, signOut } = useSignIn({
    session,
    client: 'account',
    // Every valid key may read its own details, whatever its scopes.
    enter: (own) => own.get('/v1/key').then(() => undefined),
  });
  const [link, setLink] = useState(takeLink);
  if (link !== undefined)
    return html`<${Invitation}
      link=${link}
      client="account"
      path="/invitations/keys/accept"
      title="Your API key"
      describe=${describe}
      secretOf=${(/** @type {{ key?: string }} */ { key }) => key}
      note="Keep it: this page asks for it at the next sign-in, and your programs send it with each request."
      onDone=${(/** @type {string} */ key) => void signIn(key).then(() => setLink(undefined))}
      onLeave=${() => setLink(undefined)}
    />`;

  return isSignedIn
    ? html`<${Pages}
        api=${api}
        signOut=${() => {
          location.hash = '';
          signOut();
        }}
      />`
    : html`<${SignIn} ...${signInWords} expired=${expired} signIn=${signIn} />`;
}

/** @param {{ account: string, name: string, scopes: readonly string[], models: readonly string[] | null }} offer */
function describe({ account, name, scopes, models }) {
  return html`<p>This link gives you an API key. It works only once, and nobody else has seen the key.</p>
    <${Facts}
      rows=${[
        ['Account', account],
        ['Name', name],
        ['May', scopes.map(words).join(', ')],
        ['Models', models === null ? 'all' : models.join(', ')],
      ]}
    />`;
}

const signInWords = {
  title: 'Your account',
  lead: 'For API key holders. The key is kept only in this tab, until you close it.',
  label: 'API key',
  gone: 'The key is no longer valid. Sign in again.',
  hint: 'The key begins with sk-. npm start prints one. For any other gateway, ask its operator.',
};

/** @param {{ api: import('../shared/api.js').Api, signOut: () => void }} props */
function Pages({ api, signOut }) {
  const [first = '', second = '', third = ''] = useHash().split('/');
  /** @type {import('../shared/live.js').Live<import('./types.js').Balance>} */
  const balance = useLive('balance', (signal) => api.get('/v1/balance', signal), balanceMs);
  return html`<header class="bar">
      <span class="brand">Mediary</span>
      <nav aria-label="Pages">
        <a href="#/" aria-current=${first === '' || first === 'tasks' ? 'page' : undefined}>Tasks</a>
        <a href="#/playground" aria-current=${first === 'playground' ? 'page' : undefined}>Playground</a>
        <a href="#/usage" aria-current=${first === 'usage' ? 'page' : undefined}>Usage</a>
        <a href="#/webhooks" aria-current=${first === 'webhooks' ? 'page' : undefined}>Webhooks</a>
        <a href="#/key" aria-current=${first === 'key' ? 'page' : undefined}>Key</a>
        <a href="docs">Docs</a>
      </nav>
      <button onClick=${signOut}>Sign out</button>
    </header>
    ${pageOf([first, second, third], { api, balance })}`;
}

/**
 * @param {readonly [string, string, string]} address
 * @param {{ api: import('../shared/api.js').Api, balance: import('../shared/live.js').Live<import('./types.js').Balance> }} props
 */
function pageOf([first, second, third], { api, balance }) {
  const currency = balance.data?.currency ?? '';
  if (first === 'playground')
    return html`<${Playground} api=${api} onSpent=${balance.refresh} again=${second} />`;
  if (first === 'usage') return html`<${UsagePage} api=${api} />`;
  if (first === 'webhooks') return html`<${WebhooksPage} api=${api} />`;
  if (first === 'key') return html`<${KeyPage} api=${api} />`;
  if (first === 'tasks' && third !== '')
    return html`<${TaskPage}
      api=${api}
      kind=${second}
      id=${third}
      currency=${currency}
      onEnded=${balance.refresh}
    />`;
  return html`<${Tasks} api=${api} balance=${balance} />`;
}

function useHash() {
  const [hash, setHash] = useState(location.hash);
  useLayoutEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return decoded(hash.replace(/^#\/?/, ''));
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const root = document.getElementById('app');
if (root !== null) render(html`<${Account} />`, root);
