import { createApi, errorOf } from './api.js';
import { Refusal } from './parts.js';
import { focused, html, useMemo, useRef, useState } from './preact.js';

/**
 * @param {{
 *   session: ReturnType<typeof import('./session.js').createSession>, client: string,
 *   enter: (api: import('./api.js').Api) => Promise<string | undefined>, leave?: (api: import('./api.js').Api) => Promise<unknown>,
 * }} options `client`: the name in the audit log. `enter` rejects if the token is invalid. If it resolves to another
 * token, that token is stored instead.
 */
export function useSignIn({ session, client, enter, leave }) {
  const [isSignedIn, setSignedIn] = useState(session.token() !== undefined);
  const [expired, setExpired] = useState(false);
  // The token as typed. It is not stored in the browser, because `enter` may return another token to use instead.
  const typed = useRef(/** @type {string | undefined} */ (undefined));
  const api = useMemo(
    () =>
      createApi({
        client,
        token: () => typed.current ?? session.token(),
        onExpired() {
          session.signOut();
          // Several requests may be rejected at the same time. Only the first of them signs the user out and shows the
          // message.
          setSignedIn((before) => {
            if (before) setExpired(true);
            return false;
          });
        },
      }),
    [isSignedIn],
  );

  /** @param {string} token */
  async function signIn(token) {
    setExpired(false);
    typed.current = token;
    try {
      session.signIn((await enter(api)) ?? token);
    } finally {
      typed.current = undefined;
    }
    setSignedIn(true);
  }

  function signOut() {
    // The sign-out request needs the token, so send it before the token is discarded.
    void leave?.(api).catch(() => {});
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
 * }} props `signIn` rejects if the token is invalid. `gone`: the message about an expired token.
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
          ...${focused}
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
