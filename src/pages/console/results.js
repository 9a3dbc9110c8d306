import { html } from '../shared/preact.js';
import { sourceOf } from '../shared/source.js';

/** @typedef {import('./types.d.ts').TaskDetail} TaskDetail */

/**
 * Displays only files that this gateway stores. A file at the upstream is shown as a link, from which the gateway
 * removes the part that grants access if the operator has only the `read` role.
 *
 * @param {{ task: TaskDetail }} props
 */
export function Results({ task }) {
  const { data, kind, withheld_links: withheld } = task;
  return html`${data.length === 0 && withheld.length === 0 && html`<p class="soft">No result.</p>`}
  ${data.map(
    ({ url = '', last_frame_url: lastFrame }) => html`
      <${Result} url=${url} kind=${kind} name=${kind} />
      ${lastFrame !== undefined && html`<${Result} url=${lastFrame} kind="image" name="last frame" />`}
    `,
  )}
  ${
    withheld.length > 0 &&
    html`<p class="notice warn">The upstream delivered this, but it is withheld from the caller:</p>
      ${withheld.map((url) => html`<${Result} url=${url} kind=${kind} name="withheld result" />`)}`
  }`;
}

/** @param {{ url: string, kind: string, name: string }} props */
function Result({ url, kind, name }) {
  const { src, isOurs } = sourceOf(url);
  if (src === '') return html`<p class="soft">${url === '' ? 'It is only in the response.' : url}</p>`;
  // Show the first frame until the video is played.
  const preview =
    kind === 'video'
      ? html`<video src=${`${src}#t=0.01`} controls preload="metadata"></video>`
      : html`<img src=${src} alt=${`The ${name}`} />`;
  return html`<figure>
    ${isOurs ? preview : null}
    <figcaption class="small row">
      <a href=${src} rel="noreferrer" target="_blank">Open the ${name}</a>
      ${isOurs && html`<a href=${src} download>Download</a>`}
    </figcaption>
  </figure>`;
}
