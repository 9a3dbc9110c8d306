import { createApi, errorOf } from './api.js';
import { LiveState, Refusal } from './parts.js';
import { html, useMemo, useState } from './preact.js';
import { useLive } from './live.js';
import { randomId } from './random-id.js';
import { Secret } from './secret.js';

/** @returns {string | undefined} */
export function takeLink() {
  const [, link] = /^#\/invitation\/(.+)$/.exec(location.hash) ?? [];
  if (link !== undefined) history.replaceState(null, '', `${location.pathname}${location.search}#/`);
  return link;
}

/**
 * @template Offer
 * @param {{
 *   link: string, client: string, path: string, title: string, describe: (offer: Offer) => unknown,
 *   note: string, secretOf: (offer: Offer) => string | undefined, onDone: (secret: string) => void, onLeave: () => void,
 * }} props `client`: the name in the audit log. `path`: the API path that accepts the link. `note`: what to do with
 * the secret.
 */
export function Invitation({ link, client, path, title, describe, note, secretOf, onDone, onLeave }) {
  const api = useMemo(() => createApi({ client, token: () => undefined, onExpired: () => {} }), []);
  const repeatKey = useMemo(() => randomId(16), []);
  /** @type {import('./live.js').Live<Offer>} */
  const live = useLive(link, () => api.post(path, { link, dry_run: true }), 0);
  const [secret, setSecret] = useState('');
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  async function accept() {
    setBusy(true);
    try {
      const headers = { 'idempotency-key': repeatKey };
      /** @type {Offer} */
      const given = await api.post(path, { link }, { headers });
      setSecret(secretOf(given) ?? '');
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
  }

  return html`<main class="sign-in">
    <h1>${title}</h1>
    <${LiveState} live=${live} />
    ${live.data !== undefined && describe(live.data)}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <p class="row ends">
      <button onClick=${onLeave}>Sign in instead</button>
      ${live.data !== undefined && html`<button class="main" disabled=${isBusy} onClick=${() => void accept()}>Accept</button>`}
    </p>
    ${secret !== '' && html`<${Secret} title=${title} secret=${secret} note=${note} onClose=${() => onDone(secret)} />`}
  </main>`;
}
