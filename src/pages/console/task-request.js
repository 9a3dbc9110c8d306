import { errorOf } from '../shared/api.js';
import { Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').TaskRequest} TaskRequest */

/**
 * Loaded only on demand, because the audit log records every access.
 *
 * @param {{ api: import('./types.d.ts').Api, path: string }} props
 */
export function SealedRequest({ api, path }) {
  const [shown, setShown] = useState(/** @type {TaskRequest | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  async function show() {
    setError(undefined);
    try {
      /** @type {TaskRequest} */
      const answer = await api.get(`${path}/request`);
      setShown(answer);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  return html`<h2>Request</h2>
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${
      shown === undefined
        ? html`<p class="soft">
              The caller’s request is sealed. The audit log records each time somebody opens it.
            </p>
            <button onClick=${() => void show()}>Show the request</button>`
        : html`<${Opened} shown=${shown} onSeal=${() => setShown(undefined)} />`
    }`;
}

/** @param {{ shown: TaskRequest, onSeal: () => void }} props */
function Opened({ shown: { request }, onSeal }) {
  if (request === null) return html`<p class="soft">The request has been deleted.</p>`;
  return html`<pre class="request" tabindex="0">${JSON.stringify(request, null, 2)}</pre>
    <button class="plain" onClick=${onSeal}>Hide it</button>`;
}
