/** The question: whose token is this? */
import { createApi, errorOf } from './api.js';
import { Refusal } from './parts.js';
import { html, useMemo, useState } from './preact.js';

/**
 * Whether somebody is signed in, and the API by that token. A token that is not valid any more signs out.
 *
 * @param {{
 *   session: ReturnType<typeof import('./session.js').createSession>, client: string, ownPath: string,
 * }} options `client`: for the audit log. `ownPath`: what every valid token may read.
 */
export function useSignIn({ session, client, ownPath }) {
  const [isSignedIn, setSignedIn] = useState(session.token() !== undefined);
  const [expired, setExpired] = useState(false);
  const api = useMemo(
    () =>
      createApi({
        client,
        token: session.token,
        onExpired() {
          session.signOut();
          setSignedIn((before) => {
            setExpired(before);
            return false;
          });
        },
      }),
    [isSignedIn],
  );

  /** @param {string} token */
  async function signIn(token) {
    session.signIn(token);
    await api.get(ownPath);
    setExpired(false);
    setSignedIn(true);
  }

  function signOut() {
    session.signOut();
    setExpired(false);
    setSignedIn(false);
  }

  return { api, isSignedIn, expired, signIn, signOut };
}

/**
 * @param {{
 *   title: string, lead: string, label: string, gone: string, hint: unknown,
 *   expired: boolean, signIn: (token: string) => Promise<void>,
 * }} props `signIn` rejects for a token that is not valid; `gone`: said of one that was.
 */
export function SignIn({ title, lead, label, gone, hint, expired, signIn }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(token.trim());
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
    }
  }

  return html`<main class="sign-in">
    <h1>${title}</h1>
    <p class="soft">${lead}</p>
    ${expired && html`<p class="notice warn" role="status">${gone}</p>`}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <form onSubmit=${submit}>
      <label>
        ${label}
        <input
          type="password"
          autocomplete="off"
          required
          autofocus
          value=${token}
          onInput=${(/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) =>
            setToken(event.currentTarget.value)}
        />
      </label>
      <button class="main" disabled=${isBusy || token.trim() === ''}>Sign in</button>
    </form>
    <p class="small soft">${hint}</p>
  </main>`;
}
