import { errorOf } from '../shared/api.js';
import { Callback } from '../shared/callback.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';

/** @typedef {{ is_wanted: boolean, delivery: import('../shared/callback.js').Delivery | null }} OwnCallback */

const liveMs = 5_000;

/** @param {{ api: import('../shared/api.js').Api, id: string }} props */
export function TaskCallback({ api, id }) {
  const path = `/v1/callbacks/${encodeURIComponent(id)}`;
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isWanted, setWanted] = useState(true);
  /** @type {import('../shared/live.js').Live<OwnCallback>} */
  const live = useLive(
    path,
    async (signal) => {
      /** @type {OwnCallback} */
      const answer = await api.get(path, signal);
      setWanted(answer.is_wanted);
      return answer;
    },
    isWanted ? liveMs : 0,
  );

  async function redeliver() {
    try {
      await api.post(`${path}/redeliver`, {});
      setError(undefined);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    await live.refresh();
  }

  if (!isWanted) return null;
  const { delivery = null } = live.data ?? {};
  return html`${delivery === null ? html`<h2>Callback</h2>` : html`<${Callback} delivery=${delivery} />`}
    <${LiveState} live=${live} />
    ${live.data !== undefined && delivery === null && html`<p class="soft">It has not been sent yet.</p>`}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    <p><button onClick=${redeliver}>Send the callback again</button></p>`;
}
