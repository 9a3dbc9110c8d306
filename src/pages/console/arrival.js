import { counted } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Config} Config */

const path = '/admin/v1/config';
const everyMs = 1_000;

/**
 * @param {{ api: import('./types.d.ts').Api, published: Config }} props `published` is the response to publishing the configuration.
 */
export function Arrival({ api, published }) {
  const { version } = published;
  const [isAwaited, setAwaited] = useState(true);
  /** @type {import('../shared/live.js').Live<Config>} */
  const live = useLive(
    `${path}#${version}`,
    async (signal) => {
      /** @type {Config} */
      const config = await api.get(path, signal);
      setAwaited(countsOf(config, version).isAwaited);
      return config;
    },
    isAwaited ? everyMs : 0,
  );
  const { all, arrived, refused } = countsOf(live.data ?? published, version);
  const tone = refused > 0 ? 'bad' : arrived < all ? 'warn' : 'good';
  return html`<p class=${`notice ${tone}`} role="status">
      ${arrived} of ${counted(all, 'process')} ${all === 1 ? 'runs' : 'run'} version ${version}.
      ${refused > 0 && html` ${counted(refused, 'process')} refused it: see <a href="#/nodes">Nodes</a>.`}
    </p>
    ${live.error && html`<${LiveState} live=${live} />`}`;
}

/** @param {Config} config @param {number} version */
function countsOf({ nodes }, version) {
  const running = nodes.filter(({ state }) => state === 'running');
  const arrived = running.filter(({ config }) => config >= version).length;
  const refused = running.filter((node) => node.refused?.config === version).length;
  return { all: running.length, arrived, refused, isAwaited: arrived + refused < running.length };
}
